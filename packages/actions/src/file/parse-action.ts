import { ActionFileError, hookTypes, type Action, type ActionHook, type HookType } from './action.ts';
import { isEventType, type EventType } from './events.ts';
import { YamlFile } from './yaml-file.ts';

const namePattern = /^\w[\w\-. ]+$/;
const idPattern = /^[_a-zA-Z][-_a-zA-Z0-9]{1,255}$/;

/** What each type cannot do without, in the order it is asked for; alternatives stand together. */
const requiredProperties: Record<HookType, readonly (readonly string[])[]> = {
  webhook: [['url']],
  airflow: [['url'], ['dag_id'], ['username'], ['password']],
  lua: [['script', 'script_path']],
};

/** Reads and checks an action file. Throws `ActionFileError` at the first thing that is wrong. */
export function parseAction(text: string): Action {
  const file = new YamlFile(text);
  const top = file.map([], file.value) ?? {};
  const name = file.text(['name'], top['name']);
  const description = file.text(['description'], top['description']);
  const events = file.map(['on'], top['on']) ?? {};
  const patterns = Object.entries(events).map(
    ([event, value]) => [event, branchesOf(file, event, value)] as const,
  );
  const hooks = file.list(['hooks'], top['hooks']).map((value, index) => readHook(file, value, index));

  const refuse = (message: string, ...path: (string | number)[]): never => {
    throw new ActionFileError(message, file.line(path));
  };
  if (name === '') refuse("'name' is required: invalid action", 'name');
  if (!namePattern.test(name)) refuse("'name' is invalid: invalid action", 'name');
  if (patterns.length === 0) refuse("'on' is required: invalid action", 'on');
  const on = new Map<EventType, readonly string[]>();
  for (const [event, branches] of patterns) {
    if (!isEventType(event)) throw unsupported(file, event);
    if (event.endsWith('-tag') && branches.length > 0) {
      refuse(
        "'branches' is not supported in tag event types. invalid event parameter",
        'on',
        event,
        'branches',
      );
    }
    on.set(event, branches);
  }
  const seen = new Set<string>();
  const checked: ActionHook[] = [];
  for (const [index, hook] of hooks.entries()) {
    if (!idPattern.test(hook.id)) refuse(`hook[${index}] missing ID: invalid action`, 'hooks', index, 'id');
    if (seen.has(hook.id)) {
      refuse(`hook[${index}] duplicate ID '${hook.id}': invalid action`, 'hooks', index, 'id');
    }
    seen.add(hook.id);
    checked.push(checkHook(file, hook, index));
  }
  return { name, description, on, hooks: checked };
}

interface ReadHook extends Omit<ActionHook, 'type' | 'properties'> {
  readonly type: string;
  readonly properties: ActionHook['properties'] | undefined;
}

function unsupported(file: YamlFile, event: string): ActionFileError {
  return new ActionFileError(`event '${event}' is not supported: invalid action`, file.line(['on', event]));
}

function branchesOf(file: YamlFile, event: string, value: unknown): readonly string[] {
  const path = ['on', event];
  const settings = file.map(path, value) ?? {};
  const branches = file.list([...path, 'branches'], settings['branches']);
  return branches.map((branch, index) => file.text([...path, 'branches', index], branch));
}

function readHook(file: YamlFile, value: unknown, index: number): ReadHook {
  const path = ['hooks', index];
  const hook = file.map(path, value) ?? {};
  const text = (key: string): string => file.text([...path, key], hook[key]);
  return {
    id: text('id'),
    type: text('type'),
    description: text('description'),
    condition: text('if'),
    properties: file.map([...path, 'properties'], hook['properties']),
  };
}

function checkHook(file: YamlFile, hook: ReadHook, index: number): ActionHook {
  const { type, properties } = hook;
  const refuse = (message: string, key: string): ActionFileError =>
    new ActionFileError(message, file.line(['hooks', index, key]));
  const known = hookTypes.find((candidate) => candidate === type);
  if (known === undefined) throw refuse(`hook[${index}] type '${hook.id}' unknown: invalid action`, 'type');
  if (properties === undefined) {
    throw refuse(`hook[${index}] type '${type}': missing hook properties: invalid action`, 'properties');
  }
  for (const alternatives of requiredProperties[known]) {
    if (alternatives.some((name) => Object.hasOwn(properties, name))) continue;
    const names = alternatives.map((name) => `'${name}'`).join(' or ');
    throw refuse(
      `hook[${index}] type '${type}': ${names} must be supplied in properties: invalid action`,
      'properties',
    );
  }
  return { ...hook, type: known, properties };
}
