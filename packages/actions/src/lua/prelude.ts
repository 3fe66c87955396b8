/**
 * Makes Lua 5.4 look like the Lua 5.2 that scripts are written for. `__native` holds functions of ours and is gone when
 * scripts run.
 */
export const prelude = String.raw`
local native = __native
__native = nil

local format, concat, type, select, error = string.format, table.concat, type, select, error
local raw_tostring, raw_load, raw_pcall, raw_xpcall, find = tostring, load, pcall, xpcall, string.find

local function number_text(n)
  if n ~= n then return 'NaN' end
  if n == math.huge then return '+Inf' end
  if n == -math.huge then return '-Inf' end
  return format('%.14g', n)
end

function tostring(...)
  local value = ...
  if select('#', ...) == 0 then error("bad argument #1 to 'tostring' (value expected)", 2) end
  if type(value) == 'number' then return number_text(value) end
  return raw_tostring(value)
end
local tostring = tostring

function print(...)
  local texts = {}
  for i = 1, select('#', ...) do texts[i] = tostring((select(i, ...))) end
  native.print(concat(texts, '\t') .. '\n')
end

function string.format(pattern, ...)
  local args, position = table.pack(...), 0
  for conversion in string.gmatch(pattern, '%%[-+ #0]*%d*%.?%d*(.)') do
    if conversion ~= '%' then
      position = position + 1
      if conversion == 's' and type(args[position]) == 'number' then args[position] = tostring(args[position]) end
    end
  end
  return format(pattern, table.unpack(args, 1, args.n))
end

function table.concat(list, separator, first, last)
  local texts = {}
  first = first or 1
  last = last or #list
  for i = first, last do
    local value = list[i]
    texts[#texts + 1] = type(value) == 'number' and tostring(value) or value
    if value == nil then texts[#texts + 1] = nil; error('invalid value (nil) at index ' .. i .. " in table for 'concat'", 2) end
  end
  return concat(texts, separator)
end

function string.find(s, pattern, init, plain)
  if plain == nil then plain = true end
  return find(s, pattern, init, plain)
end

string.upper, string.lower, string.reverse = native.upper, native.lower, native.reverse
string.dump, string.pack, string.unpack, string.packsize = nil, nil, nil, nil
table.move = nil

function load(chunk, name, mode, ...)
  if mode == 'b' then return nil, 'attempt to load a chunk (mode is text)' end
  if select('#', ...) == 0 then return raw_load(chunk, name, 't') end
  return raw_load(chunk, name, 't', (...))
end

-- A script that catches every error must not outlive its time.
local function checked(ok, ...)
  if not ok and native.is_over() then error(native.over_message(), 0) end
  return ok, ...
end
function pcall(...) return checked(raw_pcall(...)) end
function xpcall(...) return checked(raw_xpcall(...)) end

math.pow = function(x, y) return x ^ y end
math.atan2 = math.atan
math.cosh = function(x) return (math.exp(x) + math.exp(-x)) / 2 end
math.sinh = function(x) return (math.exp(x) - math.exp(-x)) / 2 end
math.tanh = function(x)
  if x > 20 then return 1.0 elseif x < -20 then return -1.0 end
  local a, b = math.exp(x), math.exp(-x)
  return (a - b) / (a + b)
end
math.frexp = native.frexp
math.ldexp = function(m, e) return m * 2.0 ^ e end
math.log10, math.tointeger, math.type, math.ult, math.maxinteger, math.mininteger = nil, nil, nil, nil, nil, nil

bit32 = {}
local function word(n) return math.floor(n) & 0xffffffff end
function bit32.band(...) local r = 0xffffffff for i = 1, select('#', ...) do r = r & word((select(i, ...))) end return r end
function bit32.bor(...) local r = 0 for i = 1, select('#', ...) do r = r | word((select(i, ...))) end return r end
function bit32.bxor(...) local r = 0 for i = 1, select('#', ...) do r = r ~ word((select(i, ...))) end return r end
function bit32.bnot(n) return ~word(n) & 0xffffffff end
function bit32.btest(...) return bit32.band(...) ~= 0 end
function bit32.lshift(n, by) if by < 0 then return bit32.rshift(n, -by) end return by > 31 and 0 or (word(n) << by) & 0xffffffff end
function bit32.rshift(n, by) if by < 0 then return bit32.lshift(n, -by) end return by > 31 and 0 or word(n) >> by end
function bit32.arshift(n, by)
  if by < 0 then return bit32.lshift(n, -by) end
  local w = word(n)
  if w & 0x80000000 == 0 then return bit32.rshift(w, by) end
  if by > 31 then return 0xffffffff end
  return (w >> by) | (~(0xffffffff >> by) & 0xffffffff)
end
function bit32.lrotate(n, by) by = by % 32 local w = word(n) return ((w << by) | (w >> (32 - by))) & 0xffffffff end
function bit32.rrotate(n, by) return bit32.lrotate(n, -by) end
function bit32.extract(n, field, width) width = width or 1 return (word(n) >> field) & ~(~0 << width) end
function bit32.replace(n, v, field, width)
  width = width or 1
  local mask = ~(~0 << width)
  return (word(n) & ~(mask << field) & 0xffffffff) | ((word(v) & mask) << field)
end

local list_mark = { _is_array = true }
function array(t) return setmetatable(t, list_mark) end

package.cpath, package.path = nil, ''
package.searchers = {}
package.searchpath = function(name) return nil, "no file '" .. name .. "'" end
package.loadlib = function() return nil, 'dynamic libraries not enabled; check your Lua installation', 'absent' end
package.loaded.io, package.loaded.os, package.loaded.coroutine, package.loaded.utf8 = nil, nil, nil, nil
package.loaded.debug = { traceback = debug.traceback }
package.loaded.bit32 = bit32
debug = package.loaded.debug
dofile, loadfile, coroutine, utf8, os, io, warn, rawtostring = nil, nil, nil, nil, nil, nil, nil, nil
_VERSION = 'Lua 5.2'

for name, open in pairs(native.modules()) do package.preload[name] = open end
local loaded, preload = package.loaded, package.preload
-- Modules of ours have two names; whoever replaces one of them replaces both.
local gsub = string.gsub
local function twin(name)
  local ours = gsub(name, '^lakefs%f[/\0]', 'svc')
  if ours ~= name then return ours end
  return (gsub(name, '^svc%f[/\0]', 'lakefs'))
end
function require(name)
  if loaded[name] ~= nil then return loaded[name] end
  if loaded[twin(name)] ~= nil then return loaded[twin(name)] end
  local key = name
  if preload[key] == nil then key = gsub(name, '%.', '/') end
  if loaded[key] ~= nil then return loaded[key] end
  local open = preload[key]
  local source = open == nil and native.source(key) or nil
  if source ~= nil then open = assert(raw_load(source, '=' .. key, 't')) end
  if open == nil then error("module '" .. name .. "' not found:\n\tno field package.preload['" .. name .. "']", 2) end
  local value = open(key)
  if loaded[key] == nil then loaded[key] = value == nil and true or value end
  loaded[name] = loaded[key]
  return loaded[key]
end
package.preload['hook'] = function()
  return { fail = function(message)
    native.note_failure(tostring(message))
    error(tostring(message), 0)
  end }
end
package.preload['lakefs'] = function() return require('svc') end
package.preload['lakefs/metastore'] = function() return require('svc/metastore') end
`;
