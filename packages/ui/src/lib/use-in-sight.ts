import { useCallback, useState } from 'react';

/** Whether an element has come near what is seen; once it has, it stays true. */
export function useInSight(): readonly [
  isInSight: boolean,
  ref: (element: Element | null) => (() => void) | void,
] {
  const [isInSight, setInSight] = useState(false);
  const ref = useCallback((element: Element | null) => {
    if (element === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        observer.disconnect();
        setInSight(true);
      },
      { rootMargin: '200px' },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [isInSight, ref];
}
