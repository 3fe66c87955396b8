import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { onDemand } from '../../kit/on-demand.tsx';

const Palette = onDemand(async () => (await import('./palette.tsx')).Palette);

const paletteEvent = 'svc:palette';

export function openPalette(): void {
  globalThis.dispatchEvent(new Event(paletteEvent));
}

export function onOpenPalette(open: () => void): () => void {
  globalThis.addEventListener(paletteEvent, open);
  return () => globalThis.removeEventListener(paletteEvent, open);
}

/** The palette, from the first time that it is asked for. */
export function PaletteOnDemand(): ReactNode {
  const [isAsked, setAsked] = useState(false);
  useEffect(() => onOpenPalette(() => setAsked(true)), []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      openPalette();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return isAsked ? <Palette /> : null;
}
