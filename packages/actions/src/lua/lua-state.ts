import type { LuaModule } from './lua-module.ts';
import { typeName, type HostFunction, type LuaValue } from './lua-value.ts';

const registryIndex = -1_001_000;
const types = { nil: 0, boolean: 1, number: 3, string: 4, table: 5, function: 6 } as const;
const countMask = 8;
const maxDepth = 100;

export interface LuaStateOptions {
  /** Called every so many instructions; a text it returns ends the script as an error. */
  readonly onTick: () => string | undefined;
}

const tickInstructions = 100_000;

/** Functions that open libraries know no state: each module needs one of each. */
const openers = new WeakMap<LuaModule, Map<string, number>>();

/** Why a script ended before its end. */
export interface LuaFailure {
  readonly kind: 'syntax' | 'runtime';
  readonly message: string;
  /** Where it happened; empty for errors that are no texts. */
  readonly traceback: string;
}

/** One Lua interpreter. Strings cross the border as bytes, tables as copies, functions of ours as closures. */
export class LuaState {
  readonly #lua: LuaModule;
  readonly #state: number;
  readonly #functions: HostFunction[] = [];
  /** Places in the table of functions that are ours to give back. */
  readonly #places: number[] = [];
  readonly #dispatch: number;
  readonly #lengthAt: number;
  /** Registry slot of the metatable that marks lists. */
  readonly #listMark = 0x5356_4301n;

  constructor(lua: LuaModule, options: LuaStateOptions) {
    this.#lua = lua;
    this.#state = lua._luaL_newstate();
    if (this.#state === 0) throw new Error('not enough memory');
    this.#lengthAt = lua._malloc(8);
    this.#dispatch = this.#add((state = 0) => this.#call(state), 'ii');
    for (const name of ['base', 'table', 'string', 'math', 'package', 'debug']) this.#open(name);
    const hook = this.#add((state = 0) => {
      const reason = options.onTick();
      if (reason === undefined) return;
      this.#pushString(state, reason);
      lua._lua_error(state);
    }, 'vii');
    lua._lua_sethook(this.#state, hook, countMask, tickInstructions);
    this.#makeListMark();
  }

  setGlobal(name: string, value: LuaValue): void {
    this.#push(this.#state, value, 0);
    this.#withName(name, (pointer) => this.#lua._lua_setglobal(this.#state, pointer));
  }

  /** Runs a script to its end. Undefined when it ended well. */
  run(source: string, chunkName: string): LuaFailure | undefined {
    const [lua, state] = [this.#lua, this.#state];
    lua._lua_settop(state, 0);
    let failure: LuaFailure | undefined;
    const handler = this.#add((at = 0) => {
      const message = this.#errorText(at);
      lua._luaL_traceback(at, at, 0, 1);
      failure = { kind: 'runtime', message, traceback: this.#bytesAt(at, -1) };
      return 1;
    }, 'ii');
    lua._lua_pushcclosure(state, handler, 0);
    const bytes = Buffer.from(source, 'latin1');
    const pointer = this.#copyIn(bytes);
    const loaded = this.#withName(chunkName, (name) =>
      this.#withName('t', (mode) => lua._luaL_loadbufferx(state, pointer, bytes.length, name, mode)),
    );
    lua._free(pointer);
    if (loaded !== 0) return { kind: 'syntax', message: this.#errorText(state), traceback: '' };
    const ended = lua._lua_pcallk(state, 0, 0, 1, 0, 0);
    if (ended === 0) return undefined;
    // Without memory the handler does not run.
    return (
      failure ?? {
        kind: 'runtime',
        message: ended === 4 ? 'not enough memory' : this.#errorText(state),
        traceback: '',
      }
    );
  }

  /** Frees everything. What a script wants done at the end (`__gc`) runs now, within its time. */
  close(): void {
    this.#lua._lua_close(this.#state);
    this.#lua._free(this.#lengthAt);
    for (const place of this.#places) this.#lua.removeFunction(place);
  }

  #add(run: (...args: number[]) => number | void, signature: string): number {
    const place = this.#lua.addFunction(run, signature);
    this.#places.push(place);
    return place;
  }

  #open(name: string): void {
    const opener = this.#lua[`_luaopen_${name}`];
    let open = openers.get(this.#lua)?.get(name);
    if (open === undefined && typeof opener === 'function') {
      open = this.#lua.addFunction((state = 0) => opener(state), 'ii');
      openers.set(this.#lua, (openers.get(this.#lua) ?? new Map<string, number>()).set(name, open));
    }
    const shownName = name === 'base' ? '_G' : name;
    this.#withName(shownName, (pointer) => this.#lua._luaL_requiref(this.#state, pointer, open ?? 0, 1));
    this.#lua._lua_settop(this.#state, 0);
  }

  #makeListMark(): void {
    const [lua, state] = [this.#lua, this.#state];
    lua._lua_createtable(state, 0, 1);
    this.#pushString(state, '_is_array');
    lua._lua_pushboolean(state, 1);
    lua._lua_rawset(state, -3);
    lua._lua_rawseti(state, registryIndex, this.#listMark);
  }

  /** Whatever Lua calls of ours comes through here. */
  #call(state: number): number {
    const lua = this.#lua;
    let message: string;
    try {
      const run = this.#functions[Number(lua._lua_tointegerx(state, registryIndex - 1, 0))];
      const count = lua._lua_gettop(state);
      const args: LuaValue[] = [];
      for (let index = 1; index <= count; index += 1) args.push(this.#pull(state, index, 0));
      const results = run?.(args) ?? [];
      lua._lua_settop(state, 0);
      for (const result of results) this.#push(state, result, 0);
      return results.length;
    } catch (error) {
      // Anything but an error is Lua's own jump out of here.
      if (!(error instanceof Error)) throw error;
      ({ message } = error);
    }
    lua._luaL_where(state, 1);
    this.#pushString(state, Buffer.from(message).toString('latin1'));
    lua._lua_concat(state, 2);
    return lua._lua_error(state);
  }

  #push(state: number, value: LuaValue, depth: number): void {
    const lua = this.#lua;
    if (lua._lua_checkstack(state, 8) === 0 || depth > maxDepth)
      throw new RangeError('the value is nested too deep');
    if (value === undefined) lua._lua_pushnil(state);
    else if (typeof value === 'boolean') lua._lua_pushboolean(state, value ? 1 : 0);
    else if (typeof value === 'number') {
      if (Number.isSafeInteger(value) && !Object.is(value, -0)) lua._lua_pushinteger(state, BigInt(value));
      else lua._lua_pushnumber(state, value);
    } else if (typeof value === 'string') this.#pushString(state, value);
    else if (typeof value === 'function') {
      lua._lua_pushinteger(state, BigInt(this.#functions.push(value) - 1));
      lua._lua_pushcclosure(state, this.#dispatch, 1);
    } else if (value instanceof Map) {
      const fields = value as ReadonlyMap<string | number, LuaValue>;
      lua._lua_createtable(state, 0, fields.size);
      for (const [key, item] of fields) {
        this.#push(state, key, depth + 1);
        this.#push(state, item, depth + 1);
        lua._lua_rawset(state, -3);
      }
    } else {
      const items = value as readonly LuaValue[];
      lua._lua_createtable(state, items.length, 0);
      for (const [index, item] of items.entries()) {
        this.#push(state, item, depth + 1);
        lua._lua_rawseti(state, -2, BigInt(index + 1));
      }
      lua._lua_rawgeti(state, registryIndex, this.#listMark);
      lua._lua_setmetatable(state, -2);
    }
  }

  #pull(state: number, index: number, depth: number): LuaValue {
    const lua = this.#lua;
    switch (lua._lua_type(state, index)) {
      case types.nil:
        return undefined;
      case types.boolean:
        return lua._lua_toboolean(state, index) !== 0;
      case types.number:
        return lua._lua_isinteger(state, index) === 0
          ? lua._lua_tonumberx(state, index, 0)
          : Number(lua._lua_tointegerx(state, index, 0));
      case types.string:
        return this.#bytesAt(state, index);
      case types.table:
        return this.#pullTable(state, index, depth);
      case types.function:
        return () => {
          throw new TypeError('pull table, unsupported type function');
        };
      default:
        throw new TypeError('pull table, unsupported type userdata');
    }
  }

  #pullTable(state: number, index: number, depth: number): LuaValue {
    const lua = this.#lua;
    if (lua._lua_checkstack(state, 8) === 0 || depth > maxDepth)
      throw new RangeError('the table is nested too deep');
    const at = index < 0 ? lua._lua_gettop(state) + index + 1 : index;
    if (this.#isMarked(state, at))
      return this.#pullList(state, at, Number(lua._lua_rawlen(state, at)), depth);
    const fields = new Map<string, LuaValue>();
    let numbers = 0;
    lua._lua_pushnil(state);
    while (lua._lua_next(state, at) !== 0) {
      if (lua._lua_type(state, -2) === types.string) {
        fields.set(this.#bytesAt(state, -2), this.#pull(state, -1, depth + 1));
      } else if (lua._lua_isinteger(state, -2) !== 0) numbers += 1;
      else throw new TypeError('pull table, keys must be strings');
      lua._lua_settop(state, -2);
    }
    if (numbers === 0) return fields;
    if (fields.size > 0 || Number(lua._lua_rawlen(state, at)) !== numbers) {
      throw new TypeError('pull table, keys must be strings, or 1 to n');
    }
    return this.#pullList(state, at, numbers, depth);
  }

  #pullList(state: number, at: number, length: number, depth: number): LuaValue[] {
    const items: LuaValue[] = [];
    for (let position = 1; position <= length; position += 1) {
      this.#lua._lua_rawgeti(state, at, BigInt(position));
      items.push(this.#pull(state, -1, depth + 1));
      this.#lua._lua_settop(state, -2);
    }
    return items;
  }

  #isMarked(state: number, at: number): boolean {
    const lua = this.#lua;
    if (lua._lua_getmetatable(state, at) === 0) return false;
    this.#pushString(state, '_is_array');
    lua._lua_rawget(state, -2);
    const marked = lua._lua_toboolean(state, -1) !== 0;
    lua._lua_settop(state, -3);
    return marked;
  }

  #errorText(state: number): string {
    const type = this.#lua._lua_type(state, -1);
    if (type === types.string || type === types.number) {
      this.#lua._lua_pushvalue(state, -1);
      const text = this.#bytesAt(state, -1);
      this.#lua._lua_settop(state, -2);
      return text;
    }
    return `(error object is a ${typeName(this.#pull(state, -1, 0))} value)`;
  }

  #bytesAt(state: number, index: number): string {
    const pointer = this.#lua._lua_tolstring(state, index, this.#lengthAt);
    const length = this.#lua.HEAPU32[this.#lengthAt >>> 2] ?? 0;
    const { buffer } = this.#lua.HEAPU8;
    return Buffer.from(buffer, pointer, length).toString('latin1');
  }

  #pushString(state: number, text: string): void {
    const pointer = this.#copyIn(Buffer.from(text, 'latin1'));
    this.#lua._lua_pushlstring(state, pointer, text.length);
    this.#lua._free(pointer);
  }

  #copyIn(bytes: Buffer): number {
    const pointer = this.#lua._malloc(bytes.length + 1);
    if (pointer === 0) throw new Error('not enough memory');
    this.#lua.HEAPU8.set(bytes, pointer);
    this.#lua.HEAPU8[pointer + bytes.length] = 0;
    return pointer;
  }

  #withName<Result>(name: string, work: (pointer: number) => Result): Result {
    const pointer = this.#copyIn(Buffer.from(name));
    try {
      return work(pointer);
    } finally {
      this.#lua._free(pointer);
    }
  }
}
