import { SegmentedControl, Switch, useMantineColorScheme } from '@mantine/core';
import type { MantineColorScheme } from '@mantine/core';
import { useId } from 'react';
import type { ReactNode } from 'react';
import { Dialog } from '../../kit/dialog.tsx';
import { usePreference } from '../../lib/use-preference.ts';

type Density = 'comfortable' | 'compact';

function Choice<Value extends string>({
  label,
  value,
  onChange,
  data,
}: {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  data: { value: Value; label: string }[];
}): ReactNode {
  const id = useId();
  return (
    <div className="row preference">
      <span id={id}>{label}</span>
      <SegmentedControl
        className="right"
        size="xs"
        aria-labelledby={id}
        value={value}
        onChange={onChange}
        data={data}
      />
    </div>
  );
}

/** Display preferences. They stay in this browser. */
export function PreferencesDialog({ onClose }: { onClose: () => void }): ReactNode {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [density, setDensity] = usePreference<Density>('density', 'comfortable');
  const [utc, setUtc] = usePreference<boolean>('utc', false);
  const [wrap, setWrap] = usePreference<boolean>('wrap', false);
  const [singleKeys, setSingleKeys] = usePreference<boolean>('single-keys', true);
  return (
    <Dialog opened onClose={onClose} title="Preferences">
      <div className="stack">
        <Choice<MantineColorScheme>
          label="Theme"
          value={colorScheme}
          onChange={setColorScheme}
          data={[
            { value: 'auto', label: 'As the system' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
        />
        <Choice<Density>
          label="Rows of lists"
          value={density}
          onChange={setDensity}
          data={[
            { value: 'comfortable', label: 'Comfortable' },
            { value: 'compact', label: 'Compact' },
          ]}
        />
        <Choice
          label="Times"
          value={utc ? 'utc' : 'local'}
          onChange={(zone) => setUtc(zone === 'utc')}
          data={[
            { value: 'local', label: 'Local' },
            { value: 'utc', label: 'UTC' },
          ]}
        />
        <Switch
          label="Wrap long lines of text"
          checked={wrap}
          onChange={(event) => setWrap(event.currentTarget.checked)}
        />
        <Switch
          label="Single-letter shortcuts"
          checked={singleKeys}
          onChange={(event) => setSingleKeys(event.currentTarget.checked)}
        />
        <div className="small muted">Kept in this browser only.</div>
      </div>
    </Dialog>
  );
}
