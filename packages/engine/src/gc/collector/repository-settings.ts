import { gcInherit, gcOff, gcOn, gcSettingsMessage } from '@svc/encoding';
import type { EngineContext } from '../../context/engine-context.ts';
import { invalid } from '../../context/refusals.ts';
import type { GcRepositorySettings } from '../../face/gc-runs.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { gcSettingsKey } from '../gc-keys.ts';

const hourS = 3600;
/** Stored for an explicit window of nothing: 0 is what an unset field reads as. */
const noWindow = -1;

export async function readSettings(
  context: EngineContext,
  scope: RepositoryScope,
): Promise<GcRepositorySettings> {
  const found = await context.kv.get(scope.partition, gcSettingsKey);
  if (found === undefined) return { enabled: 'inherit' };
  const { enabled, interval, quarantine } = gcSettingsMessage.decode(found.value);
  return {
    enabled: enabled === gcOn ? 'on' : enabled === gcOff ? 'off' : 'inherit',
    ...(interval === 0 ? {} : { intervalHours: interval / hourS }),
    ...(quarantine === 0 ? {} : { quarantineHours: quarantine === noWindow ? 0 : quarantine / hourS }),
  };
}

export async function writeSettings(
  context: EngineContext,
  scope: RepositoryScope,
  settings: GcRepositorySettings,
): Promise<void> {
  const { enabled, intervalHours, quarantineHours } = settings;
  if (intervalHours !== undefined && intervalHours < 1) {
    throw invalid('interval_hours must be at least 1', 'repository');
  }
  if (quarantineHours !== undefined && quarantineHours !== 0 && quarantineHours < 24) {
    throw invalid('quarantine_hours must be 0 or at least 24', 'repository');
  }
  const value = gcSettingsMessage.encode({
    enabled: enabled === 'on' ? gcOn : enabled === 'off' ? gcOff : gcInherit,
    interval: (intervalHours ?? 0) * hourS,
    quarantine: quarantineHours === 0 ? noWindow : (quarantineHours ?? 0) * hourS,
  });
  await context.kv.set(scope.partition, gcSettingsKey, value);
}

/** The window of a repository, in milliseconds. */
export async function quarantineOf(context: EngineContext, scope: RepositoryScope): Promise<number> {
  const { quarantineHours } = await readSettings(context, scope);
  return quarantineHours === undefined ? context.settings.gc.quarantineMs : quarantineHours * hourS * 1000;
}
