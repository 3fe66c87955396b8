import { useEffect, useState } from 'react';
import type { ComponentType, ReactNode } from 'react';

const askAgainMs = 2000;

/** A part of a page whose code comes when it is first shown. Until then `waiting` is shown; while the server is away it is asked for again. */
export function onDemand<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props & { readonly waiting?: ReactNode }) => ReactNode {
  let loaded: ComponentType<Props> | undefined;
  return function OnDemand({ waiting, ...props }): ReactNode {
    const [, setHere] = useState(loaded !== undefined);
    useEffect(() => {
      if (loaded !== undefined) return undefined;
      let timer: ReturnType<typeof setTimeout> | undefined;
      let isShown = true;
      const ask = async (): Promise<void> => {
        try {
          loaded = await load();
          if (isShown) setHere(true);
        } catch {
          if (isShown) timer = setTimeout(() => void ask(), askAgainMs);
        }
      };
      void ask();
      return () => {
        isShown = false;
        clearTimeout(timer);
      };
    }, []);
    const Part = loaded;
    return Part === undefined ? waiting : <Part {...(props as unknown as Props)} />;
  };
}
