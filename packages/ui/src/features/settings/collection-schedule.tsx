import { Button, NumberInput, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { components } from '@svc/client';
import { ErrorNotice, Skeletons } from '../../kit/basics.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { client } from '../../lib/api.ts';
import { useWrite } from '../../lib/queries.ts';
import { useRefusal } from '../shell/repository-context.tsx';

type Settings = components['schemas']['GcSettings'];

const configured = 'As the server is configured';

const isInterval = (hours: number | undefined): boolean =>
  hours === undefined || (Number.isInteger(hours) && hours >= 1);
const isWindow = (hours: number | undefined): boolean =>
  hours === undefined || hours === 0 || (Number.isInteger(hours) && hours >= 24);

/** Whether and how often the collector runs by itself, and how long garbage waits. */
export function CollectionSchedule({ repository }: { readonly repository: string }): ReactNode {
  const path = { repository };
  const refusal = useRefusal()('retention:SetGarbageCollectionRules');
  const [edited, setEdited] = useState<Settings>();
  const { data, error } = useQuery({
    queryKey: ['gc-settings', repository],
    queryFn: () => client.get('/repositories/{repository}/settings/gc', { params: { path } }),
  });
  const save = useWrite(
    (settings: Settings) =>
      client.put('/repositories/{repository}/settings/gc', { params: { path }, body: settings }),
    () => setEdited(undefined),
  );
  if (error !== null) return <ErrorNotice error={error} />;
  const settings = edited ?? data;
  if (settings === undefined) return <Skeletons rows={1} />;
  const set = (name: 'interval_hours' | 'quarantine_hours', value: number | string): void => {
    const { [name]: _, ...others } = settings;
    setEdited(value === '' ? others : { ...others, [name]: Number(value) });
  };
  const isValid = isInterval(settings.interval_hours) && isWindow(settings.quarantine_hours);
  return (
    <section className="box" aria-label="Schedule">
      <div className="box-head">
        <h2>Schedule</h2>
      </div>
      <div className="box-body stack">
        <Select
          label="Runs on schedule"
          w={260}
          value={settings.enabled}
          allowDeselect={false}
          onChange={(enabled) => setEdited({ ...settings, enabled: enabled ?? 'inherit' })}
          data={[
            { value: 'inherit', label: configured },
            { value: 'on', label: 'On' },
            { value: 'off', label: 'Off' },
          ]}
        />
        <NumberInput
          label="Hours between runs"
          w={260}
          min={1}
          allowDecimal={false}
          placeholder={configured}
          value={settings.interval_hours ?? ''}
          error={isInterval(settings.interval_hours) ? undefined : 'A whole number of hours, at least 1'}
          onChange={(value) => set('interval_hours', value)}
        />
        <NumberInput
          label="Hours that garbage waits"
          description="0 deletes at once"
          w={260}
          min={0}
          allowDecimal={false}
          placeholder={configured}
          value={settings.quarantine_hours ?? ''}
          error={isWindow(settings.quarantine_hours) ? undefined : '0, or at least 24 whole hours'}
          onChange={(value) => set('quarantine_hours', value)}
        />
        {save.error !== null && <ErrorNotice error={save.error} />}
        {edited !== undefined && (
          <div className="row">
            <GuardedButton
              reason={refusal}
              disabled={!isValid}
              loading={save.isPending}
              onClick={() => save.mutate(edited)}
            >
              Save schedule
            </GuardedButton>
            <Button variant="default" onClick={() => setEdited(undefined)}>
              Cancel
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}
