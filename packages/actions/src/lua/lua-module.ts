import { LuaFactory } from 'wasmoon';

/** The C interface of Lua as far as we use it: numbers are pointers, indexes and counts; 64-bit integers are bigint. */
export interface LuaModule {
  readonly HEAPU8: Uint8Array;
  readonly HEAPU32: Uint32Array;
  addFunction(run: (...args: number[]) => number | void, signature: string): number;
  removeFunction(pointer: number): void;
  _malloc(size: number): number;
  _free(pointer: number): void;
  _luaL_newstate(): number;
  _lua_close(state: number): void;
  _luaL_requiref(state: number, name: number, open: number, isGlobal: number): void;
  _luaL_loadbufferx(state: number, text: number, size: number, name: number, mode: number): number;
  _luaL_traceback(state: number, of: number, message: number, level: number): void;
  _luaL_where(state: number, level: number): void;
  _lua_gettop(state: number): number;
  _lua_settop(state: number, index: number): void;
  _lua_checkstack(state: number, slots: number): number;
  _lua_pushvalue(state: number, index: number): void;
  _lua_type(state: number, index: number): number;
  _lua_isinteger(state: number, index: number): number;
  _lua_tonumberx(state: number, index: number, isNumber: number): number;
  _lua_tointegerx(state: number, index: number, isNumber: number): bigint;
  _lua_toboolean(state: number, index: number): number;
  _lua_tolstring(state: number, index: number, length: number): number;
  _lua_rawlen(state: number, index: number): number | bigint;
  _lua_pushnil(state: number): void;
  _lua_pushnumber(state: number, value: number): void;
  _lua_pushinteger(state: number, value: bigint): void;
  _lua_pushlstring(state: number, bytes: number, length: number): number;
  _lua_pushboolean(state: number, value: number): void;
  _lua_pushcclosure(state: number, run: number, upvalues: number): void;
  _lua_createtable(state: number, items: number, fields: number): void;
  _lua_rawset(state: number, index: number): void;
  _lua_rawseti(state: number, index: number, position: bigint): void;
  _lua_rawgeti(state: number, index: number, position: bigint): number;
  _lua_rawget(state: number, index: number): number;
  _lua_getmetatable(state: number, index: number): number;
  _lua_setmetatable(state: number, index: number): number;
  _lua_next(state: number, index: number): number;
  _lua_setglobal(state: number, name: number): void;
  _lua_getglobal(state: number, name: number): number;
  _lua_pcallk(
    state: number,
    args: number,
    results: number,
    handler: number,
    context: bigint | number,
    k: number,
  ): number;
  _lua_concat(state: number, count: number): void;
  _lua_error(state: number): number;
  _lua_sethook(state: number, run: number, mask: number, count: number): void;
  readonly [opener: `_luaopen_${string}`]: number | ((state: number) => number);
}

/** A fresh instance of the WebAssembly module; nothing is shared with another. */
export async function loadLuaModule(): Promise<LuaModule> {
  const { module } = await new LuaFactory().getLuaModule();
  return module as unknown as LuaModule;
}
