import type { ReactNode } from 'react';
import { use, useState } from 'react';
import Markdown from 'react-markdown';
import type rehypeRaw from 'rehype-raw';
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { objectUrl, resolvePath } from '../lib/paths.ts';
import { parseUri } from '../lib/sql-files.ts';

export interface MarkdownPlace {
  readonly repository: string;
  readonly ref: string;
  /** The document itself, which relative links start from. */
  readonly path: string;
}

const schema: typeof defaultSchema = {
  ...defaultSchema,
  protocols: {
    ...defaultSchema.protocols,
    href: ['http', 'https', 'mailto', 'svc', 'lakefs'],
    src: ['http', 'https', 'svc', 'lakefs'],
  },
};

const isExternal = (url: string): boolean => /^(https?:)?\/\//i.test(url);

function hrefOf(place: MarkdownPlace | undefined, url: string): string | undefined {
  if (url.startsWith('#') || isExternal(url) || url.startsWith('mailto:')) return url;
  const uri = parseUri(url);
  const { repository, ref, path } =
    uri ??
    (place === undefined
      ? { repository: '', ref: '', path: '' }
      : { ...place, path: resolvePath(place.path, decode(url)) });
  if (repository === '') return undefined;
  const page = path.endsWith('/') || path === '' ? 'objects' : 'object';
  return `/repositories/${encodeURIComponent(repository)}/${page}?ref=${encodeURIComponent(ref)}&path=${encodeURIComponent(path)}`;
}

function sourceOf(place: MarkdownPlace | undefined, url: string): string | undefined {
  const uri = parseUri(url);
  if (uri !== undefined) return objectUrl(uri.repository, uri.ref, uri.path);
  if (place === undefined) return undefined;
  return objectUrl(place.repository, place.ref, resolvePath(place.path, decode(url)));
}

function decode(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

type HtmlParser = typeof rehypeRaw;
let htmlParser: Promise<HtmlParser> | undefined;

/** The HTML parser is half of the Markdown code, and few documents need it. */
function loadHtmlParser(): Promise<HtmlParser> {
  htmlParser ??= import('rehype-raw').then(
    ({ default: parser }) => parser,
    (error: unknown) => {
      htmlParser = undefined;
      throw error;
    },
  );
  return htmlParser;
}

/** Stored Markdown is untrusted: it is parsed and then sanitised. */
export function MarkdownView({ text, place }: { text: string; place?: MarkdownPlace }): ReactNode {
  const [external, setExternal] = useState(false);
  const html = /<[a-z!/?]/i.test(text) ? [use(loadHtmlParser())] : [];
  const hasExternal = /!\[[^\]]*\]\(\s*https?:|<img[^>]+https?:/i.test(text);
  return (
    <div className="markdown">
      {hasExternal && !external && (
        <button type="button" className="tag pressable larger" onClick={() => setExternal(true)}>
          External images are not shown. Show their addresses
        </button>
      )}
      <Markdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[...html, [rehypeSanitize, schema]]}
        urlTransform={(url) => url}
        components={{
          // The page has its own first heading; those of a document stand below it.
          h1: ({ children }) => <h2 className="level-1">{children}</h2>,
          h2: ({ children }) => <h3 className="level-2">{children}</h3>,
          h3: ({ children }) => <h4>{children}</h4>,
          h4: ({ children }) => <h5>{children}</h5>,
          h5: ({ children }) => <h6>{children}</h6>,
          input: ({ checked }) => (
            <input
              type="checkbox"
              checked={checked === true}
              disabled
              aria-label={checked === true ? 'Done' : 'To do'}
            />
          ),
          a({ href, children }) {
            const target = href === undefined || href === '' ? undefined : hrefOf(place, href);
            return target === undefined ? (
              <span>{children}</span>
            ) : (
              <a
                href={target}
                rel="noopener noreferrer nofollow"
                target={isExternal(target) ? '_blank' : undefined}
              >
                {children}
              </a>
            );
          },
          img({ src, alt = '' }) {
            const url = typeof src === 'string' ? src : '';
            // The page's own policy forbids other hosts; say what is missing instead of showing a broken image.
            if (isExternal(url))
              return <span className="tag">{external ? url : `image: ${alt || 'external'}`}</span>;
            return <img src={sourceOf(place, url)} alt={alt} />;
          },
        }}
      >
        {text}
      </Markdown>
    </div>
  );
}
