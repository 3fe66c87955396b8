import { Prec, StateEffect, StateField } from '@codemirror/state';
import type { EditorState, Extension } from '@codemirror/state';
import { EditorView, keymap, showTooltip } from '@codemirror/view';
import type { Tooltip } from '@codemirror/view';
import type { Completion } from '../lib/policy-completion.ts';

interface Offer extends Completion {
  readonly chosen: number;
}

const choose = StateEffect.define<number | 'none'>();
const optionId = (index: number): string => `completion-${index}`;

/** Offers what can stand at the cursor while somebody types; arrows choose, Enter and Tab take, Escape closes. */
export function completion(find: (text: string, position: number) => Completion | undefined): Extension {
  const offers = StateField.define<Offer | null>({
    create: () => null,
    update(offer, transaction) {
      for (const effect of transaction.effects) {
        if (!effect.is(choose)) continue;
        return offer === null || effect.value === 'none' ? null : { ...offer, chosen: effect.value };
      }
      const isTyped = transaction.isUserEvent('input.type') || transaction.isUserEvent('delete');
      if (transaction.docChanged && isTyped) {
        const { state } = transaction;
        const found = find(state.doc.toString(), state.selection.main.head);
        return found === undefined ? null : { ...found, chosen: 0 };
      }
      return transaction.docChanged || transaction.selection !== undefined ? null : offer;
    },
    provide: (field) => [
      showTooltip.from(field, (offer) => (offer === null ? null : tooltipOf(offer))),
      EditorView.contentAttributes.compute([field], (state): Record<string, string> => {
        const offer = state.field(field);
        if (offer === null) return { 'aria-autocomplete': 'list' };
        return {
          'aria-autocomplete': 'list',
          'aria-activedescendant': optionId(offer.chosen),
          // Escape closes the list; the dialog around it looks for this before it closes itself.
          'data-mantine-stop-propagation': 'true',
        };
      }),
    ],
  });
  const offerIn = (state: EditorState): Offer | null => state.field(offers);
  const move = (by: number) => (view: EditorView) => {
    const offer = offerIn(view.state);
    if (offer === null) return false;
    const { length } = offer.options;
    view.dispatch({ effects: choose.of((offer.chosen + by + length) % length) });
    return true;
  };
  const accept = (view: EditorView): boolean => {
    const offer = offerIn(view.state);
    if (offer === null) return false;
    take(view, offer, offer.chosen);
    return true;
  };
  const close = (view: EditorView): boolean => {
    if (offerIn(view.state) === null) return false;
    view.dispatch({ effects: choose.of('none') });
    return true;
  };
  return [
    offers,
    Prec.highest(
      keymap.of([
        { key: 'ArrowDown', run: move(1) },
        { key: 'ArrowUp', run: move(-1) },
        { key: 'Enter', run: accept },
        { key: 'Tab', run: accept },
        { key: 'Escape', run: close },
      ]),
    ),
  ];
}

function take(view: EditorView, { from, to, options }: Offer, index: number): void {
  const insert = options[index] ?? '';
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + insert.length },
    userEvent: 'input.complete',
  });
  view.focus();
}

function tooltipOf(offer: Offer): Tooltip {
  return {
    pos: offer.from,
    create(view) {
      const dom = document.createElement('ul');
      dom.className = 'completion';
      dom.setAttribute('role', 'listbox');
      dom.setAttribute('aria-label', 'Completions');
      for (const [index, option] of offer.options.entries()) {
        const item = document.createElement('li');
        item.id = optionId(index);
        item.setAttribute('role', 'option');
        item.setAttribute('aria-selected', String(index === offer.chosen));
        item.textContent = option;
        // Before the editor loses the focus.
        item.addEventListener('mousedown', (event) => {
          event.preventDefault();
          take(view, offer, index);
        });
        dom.append(item);
      }
      return { dom };
    },
  };
}
