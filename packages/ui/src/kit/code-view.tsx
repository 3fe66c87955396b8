import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import type { StreamParser } from '@codemirror/language';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import type { Completion } from '../lib/policy-completion.ts';
import { completion } from './completion.ts';

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--svc-merged)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--svc-added)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--svc-info)' },
  { tag: tags.comment, color: 'var(--svc-muted)', fontStyle: 'italic' },
  { tag: [tags.propertyName, tags.definition(tags.variableName), tags.tagName], color: 'var(--svc-link)' },
  { tag: [tags.typeName, tags.className, tags.attributeName], color: 'var(--svc-changed)' },
]);

type Loader = () => Promise<StreamParser<unknown>>;

const js: Loader = async () => (await import('@codemirror/legacy-modes/mode/javascript')).typescript;
const json: Loader = async () => (await import('@codemirror/legacy-modes/mode/javascript')).json;
const python: Loader = async () => (await import('@codemirror/legacy-modes/mode/python')).python;
const yaml: Loader = async () => (await import('@codemirror/legacy-modes/mode/yaml')).yaml;
const sql: Loader = async () => (await import('@codemirror/legacy-modes/mode/sql')).pgSQL;
const shell: Loader = async () => (await import('@codemirror/legacy-modes/mode/shell')).shell;
const toml: Loader = async () => (await import('@codemirror/legacy-modes/mode/toml')).toml;
const xml: Loader = async () => (await import('@codemirror/legacy-modes/mode/xml')).html;
const go: Loader = async () => (await import('@codemirror/legacy-modes/mode/go')).go;
const rust: Loader = async () => (await import('@codemirror/legacy-modes/mode/rust')).rust;
const r: Loader = async () => (await import('@codemirror/legacy-modes/mode/r')).r;
const lua: Loader = async () => (await import('@codemirror/legacy-modes/mode/lua')).lua;
const java: Loader = async () => (await import('@codemirror/legacy-modes/mode/clike')).java;
const cpp: Loader = async () => (await import('@codemirror/legacy-modes/mode/clike')).cpp;
const scala: Loader = async () => (await import('@codemirror/legacy-modes/mode/clike')).scala;

const languages: Readonly<Record<string, Loader>> = {
  js,
  mjs: js,
  cjs: js,
  ts: js,
  tsx: js,
  jsx: js,
  json,
  jsonl: json,
  ndjson: json,
  geojson: json,
  ipynb: json,
  py: python,
  yaml,
  yml: yaml,
  sql,
  sh: shell,
  bash: shell,
  toml,
  xml,
  html: xml,
  htm: xml,
  go,
  rs: rust,
  r,
  lua,
  java,
  kt: java,
  scala,
  c: cpp,
  h: cpp,
  cc: cpp,
  cpp,
  hpp: cpp,
};

/** Highlighting by file extension; nothing for a language that is not known. */
export async function languageFor(extension: string): Promise<Extension> {
  const load = languages[extension];
  if (load === undefined) return [];
  const parser = await load();
  return StreamLanguage.define({
    ...parser,
    tokenTable: { ...parser.tokenTable, property: tags.propertyName },
  });
}

export const readOnly: Extension = [EditorState.readOnly.of(true), EditorView.editable.of(false)];
export const appearance: Extension = [lineNumbers(), syntaxHighlighting(colours), drawSelection()];

/** Text of any length with line numbers, search and highlighting. Only visible lines are rendered. */
export function CodeView({
  text,
  extension,
  label,
  wrap = false,
  line,
  onLine,
}: {
  text: string;
  extension: string;
  label: string;
  wrap?: boolean;
  line?: number | undefined;
  onLine?: (line: number) => void;
}): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const chosen = useRef(onLine);
  chosen.current = onLine;
  useEffect(() => {
    if (host.current === null) return undefined;
    const language = new Compartment();
    const view = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers({
            domEventHandlers: {
              mousedown(editor, block) {
                chosen.current?.(editor.state.doc.lineAt(block.from).number);
                return false;
              },
            },
          }),
          syntaxHighlighting(colours),
          drawSelection(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          search({ top: true }),
          keymap.of([...searchKeymap, ...defaultKeymap]),
          EditorState.readOnly.of(true),
          // Editable, so that the cursor, selection and search work by keyboard; read-only, so nothing changes.
          EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': 'true' }),
          wrap ? EditorView.lineWrapping : [],
          language.of([]),
        ],
      }),
    });
    if (line !== undefined && line >= 1 && line <= view.state.doc.lines) {
      const at = view.state.doc.line(line).from;
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    }
    void languageFor(extension).then((loaded) => view.dispatch({ effects: language.reconfigure(loaded) }));
    return () => view.destroy();
  }, [text, extension, label, wrap, line]);
  return <div className="code-scroll" ref={host} />;
}

/** A small editor, for SQL and JSON. */
export function CodeEditor({
  value,
  onChange,
  extension,
  label,
  onRun,
  complete,
  minHeight = 110,
}: {
  value: string;
  onChange: (value: string) => void;
  extension: string;
  label: string;
  /** Ctrl or ⌘ Enter. */
  onRun?: () => void;
  /** What can stand at a place of the text. */
  complete?: (text: string, position: number) => Completion | undefined;
  minHeight?: number;
}): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(undefined);
  const handlers = useRef({ onChange, onRun, complete });
  handlers.current = { onChange, onRun, complete };
  const initial = useRef(value);
  useEffect(() => {
    if (host.current === null) return undefined;
    const language = new Compartment();
    const view = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: initial.current,
        extensions: [
          keymap.of([
            {
              key: 'Mod-Enter',
              run() {
                handlers.current.onRun?.();
                return true;
              },
            },
            ...historyKeymap,
            ...defaultKeymap,
          ]),
          history(),
          completion((text, position) => handlers.current.complete?.(text, position)),
          appearance,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) handlers.current.onChange(update.state.doc.toString());
          }),
          EditorView.theme({ '.cm-content, .cm-gutter': { minHeight: `${minHeight}px` } }),
          language.of([]),
        ],
      }),
    });
    editor.current = view;
    void languageFor(extension).then((loaded) => view.dispatch({ effects: language.reconfigure(loaded) }));
    return () => view.destroy();
  }, [extension, label, minHeight]);
  useEffect(() => {
    const view = editor.current;
    if (view !== undefined && view.state.doc.toString() !== value) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
    }
  }, [value]);
  return <div ref={host} className="box editor-scroll" />;
}
