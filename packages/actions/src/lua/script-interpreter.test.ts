import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { printed, run } from '../../test/run-lua.ts';
import type { HostCall } from './worker-protocol.ts';

test('numbers and texts look as they do in Lua 5.2', async () => {
  const source = `
    print(10*1024*1024*1024, 10/2, 2^53, 2147483647+1)
    print(1/0, -1/0, 0/0)
    print(string.find("a.b", "."))
    print(string.find("a.b", ".", 1, false))
    print(table.concat({8/2, "x", 1}, ","), string.format("%s %d %5.1f", 6/3, 7, 2))
    print(string.upper("grüße"), string.lower("ÄB"), string.reverse("aü€"))
    print(bit32.band(0xff, 0x0f), bit32.bnot(0), bit32.lshift(1, 31), bit32.rrotate(1, 1))
    print(math.pow(2, 10), math.ldexp(0.5, 3), math.log10, _VERSION, math.frexp(8))
    print(#table.pack(1, nil, 3), select('#', 1, nil))
    print(type(collectgarbage("count")), tostring(nil), tostring("x"))
  `;
  expect(await printed(source)).toBe(
    [
      '10737418240\t5\t9.007199254741e+15\t2147483648',
      '+Inf\t-Inf\tNaN',
      '2\t2',
      '1\t1',
      '4,x,1\t2 7   2.0',
      'GRÜSSE\täb\t€üa',
      '15\t4294967295\t2147483648\t2147483648',
      '1024\t4\tnil\tLua 5.2\t0.5\t4',
      '3\t2',
      'number\tnil\tx',
      '',
    ].join('\n'),
  );
});

test('what scripts must not have is not there', async () => {
  expect((await run('require("io")')).failure).toContain("module 'io' not found");
  expect((await run('require("net/http")')).failure).toContain("module 'net/http' not found");
  expect((await run('loadfile("x")')).failure).toContain("attempt to call a nil value (global 'loadfile')");
  expect((await run('os.getenv("HOME")')).failure).toContain("attempt to index a nil value (global 'os')");
  const source = `
    for _, name in ipairs({"dofile", "io", "os", "coroutine", "utf8", "__native", "warn"}) do print(name, _G[name]) end
    local names = {}
    for name in pairs(debug) do names[#names + 1] = name end
    print(table.concat(names, ","))
    print(load("\\27Lua"))
    print(string.dump)
  `;
  expect(await printed(source)).toBe(
    'dofile\tnil\nio\tnil\nos\tnil\ncoroutine\tnil\nutf8\tnil\n__native\tnil\nwarn\tnil\ntraceback\n' +
      "nil\tattempt to load a binary chunk (mode is 't')\nnil\n",
  );
});

test('failures say where and why', async () => {
  expect((await run('x = ')).failure).toBe('syntax error: [string "lua"]:1: unexpected symbol near <eof>');
  const runtime = (await run('\nerror("no")')).failure;
  expect(runtime).toMatch(/^runtime error: \[string "lua"\]:2: no\nstack traceback:\n/);
  expect((await run('require("hook").fail("nope")')).failure).toBe('nope');
  expect((await run('local h = require("hook") pcall(h.fail, "nope")')).failure).toBeUndefined();
  expect((await run('error({})')).failure).toMatch(/^runtime error: \(error object is a table value\)/);
  expect((await run('require("encoding/json").unmarshal("{")')).failure).toMatch(
    /^runtime error: \[string "lua"\]:1: /,
  );
});

test('JSON as scripts know it', async () => {
  const source = `
    local json = require("encoding/json")
    print(json.marshal({a="<b>", n=1699276565259, e=array({})}))
    local t = json.unmarshal('{"a":[1,null,3],"b":null}')
    print(#t.a, t.b, json.marshal(t))
    print(json.marshal({1, 2}), json.marshal({}), json.marshal(nil), json.marshal({x={y=1.5}}, {indent="  "}))
    print(pcall(json.marshal, "text"))
  `;
  expect(await printed(source)).toBe(
    [
      '{"a":"\\u003cb\\u003e","e":[],"n":1699276565259}\n',
      '3\tnil\t{"a":[1,null,3]}\n',
      '[1,2]\n\t{}\n\tnull\n\t{\n  "x": {\n    "y": 1.5\n  }\n}\n',
      'false\t[string "lua"]:0: need a table at index 1, got string',
      '',
    ]
      .join('\n')
      .replace('[string "lua"]:0: ', ''),
  );
});

test('bytes stay bytes, and packages do what they say', async () => {
  const source = `
    local b64, hex, sha, md5 = require("encoding/base64"), require("encoding/hex"), require("crypto/sha256"), require("crypto/md5")
    print(b64.encode("\\0\\255x"), #b64.decode("AP94"), hex.encode("\\0\\255"), b64.url_encode("\\255\\255"))
    print(hex.encode(sha.digest("abc")), md5.digest("abc"))
    print(hex.encode(require("crypto/hmac").sign_sha256("m", "k")))
    local aes = require("crypto/aes")
    print(aes.decryptCBC(("k"):rep(32), aes.encryptCBC(("k"):rep(32), "plain\\0text")) == "plain\\0text")
    local path = require("path")
    print(path.join("/", "/a/", "", "b/"), path.parse("a/b/c/").parent, path.parse("a/b/c/").base_name)
    print(path.is_hidden("a/_b/c"), path.is_hidden("a/b"), path.extract_dir_name("x"), path.extract_dir_name("a/b/"))
    local strings = require("strings")
    print(#strings.split("", ","), #strings.split("a,b", ","), strings.replace("aaa", "a", "b", 2), strings.trim("  x "))
    local re = require("regexp")
    print(re.match("^a+$", "aaa"), re.quote_meta("a.b"), re.compile("(a)(x)?").find_submatch("ba")[2])
    print(table.concat(re.compile("[0-9]+").find_all("1 22 333", -1), ","), re.compile("z").find("a") == "")
    local url = require("net/url").parse("https://h.example:1/a%20b?q=1#f")
    print(url.scheme, url.host, url.path, url.query, url.fragment)
    local time = require("time")
    print(time.format(1700000000 * 1e9, "Mon Jan _2 15:04:05 MST 2006", "Europe/Berlin"), time.format_iso(0))
    print(time.parse("2006-01-02 15:04:05 -0700", "2023-11-14 23:13:20 +0100") / 1e9, time.parse_iso("2023-11-14T22:13:20Z") / 1e9)
    print(time.add(0, {hour=1, second=2}) / 1e9)
    print(require("encoding/yaml").unmarshal("a: [1, 2]\\non: 2020-01-01").on, #require("uuid").new())
    print(require("encoding/z85enc").decode_uuid("ab^-aqEH.-t@S}K{vb[*k^"))
    print(require("lakefs") == require("svc"), username)
  `;
  expect((await printed(source)).split('\n')).toEqual([
    'AP94\t3\t00ff\t__8',
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\t900150983cd24fb0d6963f7d28e17f72',
    createHmac('sha256', 'k').update('m').digest('hex'),
    'true',
    '/a//b/\ta/b/\tc',
    'true\tfalse\t.\ta/b',
    '1\t2\tbba\tx',
    'true\ta\\.b\ta',
    '1,22,333\ttrue',
    'https\th.example:1\t/a b\tq=1\tf',
    'Tue Nov 14 23:13:20 GMT+1 2023\t1970-01-01T00:00:00+00:00',
    '1700000000\t1700000000',
    '3602',
    '2020-01-01\t36',
    expect.stringMatching(/^[0-9a-f-]{36}\tab$/),
    'true\tada',
    '',
  ]);
});

test('calls of the service wait for their answer, also inside a sort', async () => {
  const calls: HostCall[] = [];
  const { output, failure } = await run(
    `
    local svc = require("svc")
    local numbers = {3, 1, 2}
    table.sort(numbers, function(a, b) svc.stat_object("r", "main", "p" .. a) return a < b end)
    print(table.concat(numbers, ","))
    local code, body = svc.list_objects("my repo", "main", "", "a/", "/", 10)
    print(code, body.results[1].path)
    print(svc.get_object("r", "main", "bin"))
    print(svc.update_object_user_metadata("r", "main", "x", {n=1}))
    `,
    {},
    (call) => {
      calls.push(call);
      const path = call.kind === 'api' ? call.path : '';
      const body = path.endsWith('/ls')
        ? Buffer.from('{"results":[{"path":"a/b"}]}')
        : path.endsWith('/objects')
          ? Buffer.from([0x61, 0x62])
          : Buffer.from('{}');
      return { status: path.endsWith('user_metadata') ? 204 : 200, statusText: '', rawHeaders: [], body };
    },
  );
  expect(failure).toBeUndefined();
  expect(output).toBe('1,2,3\n200\ta/b\n200\tab\n204\n');
  expect(calls.at(-3)).toMatchObject({
    path: '/repositories/my%20repo/refs/main/objects/ls',
    query: { after: '', prefix: 'a/', delimiter: '/', amount: '10' },
  });
  expect(calls.at(-1)).toMatchObject({ method: 'PUT', body: '{"set":{"n":"1"}}' });
});

test('the columns of a Parquet file come out of its bytes', async () => {
  const body = readFileSync(new URL('../../test/fixtures/animals.parquet', import.meta.url));
  const source = `
    local code, content = require("svc").get_object("r", "main", "animals.parquet")
    for _, column in ipairs(require("encoding/parquet").get_schema(content)) do print(column.name, column.type) end
    print(pcall(require("encoding/parquet").get_schema, "no table"))
  `;
  const { output } = await run(source, {}, () => ({ status: 200, statusText: '', rawHeaders: [], body }));
  expect(output.split('\n')).toEqual([
    'id\tINT64',
    'größe\tDOUBLE',
    'owner\tN/A',
    'name\tBYTE_ARRAY',
    'seen\tINT32',
    'alive\tBOOLEAN',
    'photo\tBYTE_ARRAY',
    expect.stringMatching(/^false\t.*parquet/),
    '',
  ]);
});

test('requests to the network are there when they are switched on', async () => {
  const { output } = await run(
    'print(require("net/http").request("http://x.test/", "body"))',
    { netHttpEnabled: true },
    (call) => ({
      status: 200,
      statusText: 'OK',
      rawHeaders: ['content-type', 'text/plain'],
      body: Buffer.from(call.kind === 'http' ? `${call.method} ${call.body ?? ''}` : ''),
    }),
  );
  expect(output).toMatch(/^200\tPOST body\ttable: \S+\t200 OK\n$/);
});

test('arguments and the action reach the script', async () => {
  const source = 'print(args.list[2], args.deep.flag, action.commit.metadata.k, #action.commit.parents)';
  const job = {
    args: { list: ['a', 'b'], deep: { flag: true } },
    action: { commit: { metadata: { k: 'v' }, parents: ['p'] } },
  };
  expect(await printed(source, job)).toBe('b\ttrue\tv\t1\n');
});
