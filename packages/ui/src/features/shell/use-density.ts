import { useEffect } from 'react';
import { usePreference } from '../../lib/use-preference.ts';

export type Density = 'comfortable' | 'compact';

/** Lists read the density from the page, so that styles and row heights agree. */
export function useDensity(): readonly [Density, (density: Density) => void] {
  const [density, setDensity] = usePreference<Density>('density', 'comfortable');
  useEffect(() => {
    document.documentElement.dataset['density'] = density;
  }, [density]);
  return [density, setDensity];
}
