import { useCallback, useEffect, useId, useRef, useState } from 'react';
import type { FocusEvent, PointerEvent, ReactNode } from 'react';
import { createPortal } from 'react-dom';

const openDelayMs = 300;
const margin = 8;

/** Says what a button does, or why it cannot be used, when it is pointed at or reached by keyboard. */
export function Hint({ label, children }: { label: string | undefined; children: ReactNode }): ReactNode {
  const [target, setTarget] = useState<Element>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const id = useId();
  const hide = (): void => {
    clearTimeout(timer.current);
    setTarget(undefined);
  };
  const showAt = (element: Element | null, delay: number): void => {
    clearTimeout(timer.current);
    if (element === null || label === undefined) return;
    timer.current = setTimeout(() => setTarget(element), delay);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (target === undefined) return undefined;
    target.setAttribute('aria-describedby', id);
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') setTarget(undefined);
    };
    document.addEventListener('keydown', onKey);
    return () => {
      target.removeAttribute('aria-describedby');
      document.removeEventListener('keydown', onKey);
    };
  }, [target, id]);
  // Above its target, or below where there is no room; always inside the window.
  const place = useCallback(
    (tip: HTMLElement | null) => {
      if (tip === null || target === undefined) return;
      const { left, width, top, bottom } = target.getBoundingClientRect();
      const space = document.documentElement.clientWidth - tip.offsetWidth - margin;
      tip.style.left = `${Math.max(margin, Math.min(space, left + (width - tip.offsetWidth) / 2))}px`;
      const above = top - tip.offsetHeight - margin;
      tip.style.top = `${above < 0 ? bottom + margin : above}px`;
    },
    [target],
  );
  return (
    <span
      className="contents"
      onPointerEnter={(event: PointerEvent) => {
        if (event.pointerType !== 'touch') showAt(event.currentTarget.firstElementChild, openDelayMs);
      }}
      onPointerLeave={hide}
      onPointerDown={hide}
      onFocus={(event: FocusEvent) => {
        if (event.target.matches(':focus-visible')) showAt(event.currentTarget.firstElementChild, 0);
      }}
      onBlur={hide}
    >
      {children}
      {target !== undefined &&
        label !== undefined &&
        createPortal(
          <div className="hint-tip" role="tooltip" id={id} ref={place}>
            {label}
          </div>,
          document.body,
        )}
    </span>
  );
}
