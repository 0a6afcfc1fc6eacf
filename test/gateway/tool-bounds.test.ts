import { test } from 'tap';
import type { Catalog } from '../../src/domain/catalog.ts';
import { ENDPOINTS } from '../../src/gateway/endpoints.ts';
import { checkJsonBody, readJsonBody } from '../../src/gateway/request/call-body.ts';
import { type ReadJson, readJsonInPieces } from '../../src/gateway/request/json/json-reader.ts';
import { InspectedNames } from '../../src/gateway/request/members.ts';
import { Upload } from '../../src/gateway/request/spool/spool.ts';
import { upstreamJson } from '../../src/gateway/upstream/body.ts';
import { inMemory } from '../../src/metering/byte-source.ts';
import { callAt, modelAt, type Path } from '../helper/fixtures/asked.ts';

const bounds = { imageTokens: 1_000, contextTokens: 100_000, toolRounds: 3, toolTokens: 50_000 };
const LONG = 'é"\\'.repeat(200);

/** The body that goes upstream for a text, read at once and in pieces; both must be the same. */
async function sentFor(path: Path, text: string): Promise<string> {
  const endpoint = ENDPOINTS.find((candidate) => candidate.path === path);
  if (!endpoint) throw new Error('no endpoint');
  const model = modelAt(path, { upstreamModel: 'm' });
  const catalog: Catalog = new Map([['m', model]]);
  const sentOf = async (read: ReadJson, from: Buffer | Upload) => {
    const body = checkJsonBody(read, read.parse(), catalog, callAt(endpoint));
    const { sets = [] } = endpoint.meter.plan(body);
    const { bytes } = upstreamJson(body, from, read, { asksForUsage: false, sets, bounds });
    if (Buffer.isBuffer(bytes)) return bytes;
    const pieces: Buffer[] = [];
    for await (const piece of bytes) pieces.push(piece);
    return Buffer.concat(pieces);
  };
  const bytes = Buffer.from(text);
  const atOnce = await sentOf(readJsonBody(bytes), bytes);
  const source = inMemory(bytes);
  const inPieces = await sentOf(await readJsonInPieces(source, new InspectedNames()), new Upload(source));
  if (!atOnce.equals(inPieces)) throw new Error(`read in pieces: ${inPieces.toString().slice(0, 500)}`);
  return atOnce.toString();
}

test('Responses: max_tool_calls is sent where the provider runs tools and the request names none', async (t) => {
  const body = (tools: string, more = '') =>
    `{ "model":"m" ,"input":[{"role":"user","content":${JSON.stringify(LONG)}}], "tools" : ${tools}${more} , "n2":1.0 }`;
  const sent = (tools: string, more?: string) => sentFor('/v1/responses', body(tools, more));
  const search = '[ {"type":"web_search"} ]';
  t.equal(await sent(search), body(search).replace('{', '{"max_tool_calls":3,'));
  t.equal(
    await sent(search, ', "max_tool_calls" : null'),
    body(search, ', "max_tool_calls" : 3'),
    'null names none',
  );
  for (const same of [', "max_tool_calls": 7', ', "max_tool_calls":0'])
    t.equal(await sent(search, same), body(search, same), same);
  const own = '[{"type":"function","name":"f"},{"type":"tool_search","execution":"client"}]';
  t.equal(await sent(own), body(own), 'tools that the client runs');
  for (const type of ['mcp', 'tool_search']) {
    const tool = `[{"type":"${type}"}]`;
    t.equal(await sent(tool), body(tool).replace('{', '{"max_tool_calls":3,'), type);
  }
  const item = `{"model":"m","input":[{"type":"additional_tools","tools":${search}}]}`;
  t.equal(await sentFor('/v1/responses', item), item.replace('{', '{"max_tool_calls":3,'));
});

test('Messages: max_uses and max_content_tokens are sent with tools that have them and name none', async (t) => {
  const rows = [
    ['{"type":"web_search_20250305"}', '{"max_uses":3,"type":"web_search_20250305"}'],
    ['{ "type":"web_search_20250305","max_uses" : null }', '{ "type":"web_search_20250305","max_uses" : 3 }'],
    [
      '{"m\\u0061x_uses":null,"type":"web_search_20250305"}',
      '{"m\\u0061x_uses":3,"type":"web_search_20250305"}',
    ],
    ['{"type":"web_search_20250305","max_uses":1}', '{"type":"web_search_20250305","max_uses":1}'],
    [
      '{"type":"web_fetch_20260318","citations":{"max_uses":null}}',
      '{"max_content_tokens":50000,"max_uses":3,"type":"web_fetch_20260318","citations":{"max_uses":null}}',
    ],
    [
      '{"type":"web_fetch_20260318","max_content_tokens":null,"max_uses":2}',
      '{"type":"web_fetch_20260318","max_content_tokens":50000,"max_uses":2}',
    ],
    ['{"type":"tool_search_tool_bm25_20251119"}', '{"type":"tool_search_tool_bm25_20251119"}'],
    ['{"name":"web_search","input_schema":{}}', '{"name":"web_search","input_schema":{}}'],
    ['{"type":"mcp_toolset"}', '{"type":"mcp_toolset"}'],
  ] as const;
  const content = JSON.stringify(`${LONG}]}{[,`);
  const body = (tools: readonly string[]) =>
    `{"model":"m","tools":[ ${tools.join(' , ')}],"messages":[{"role":"user","content":${content}}],"x":1e400}`;
  for (const [tool, expected] of rows)
    t.equal(await sentFor('/v1/messages', body([tool])), body([expected]), tool);
  t.equal(
    await sentFor('/v1/messages', body(rows.map(([tool]) => tool))),
    body(rows.map(([, expected]) => expected)),
    'all of them',
  );
});

test('Messages: tools within messages are sent with their bounds', async (t) => {
  const body = (tool: string, change: string) =>
    `{"messages":[{"role":"user","content":"a"},{"role":"system","content":[[],{"type":"text","text":${JSON.stringify(LONG)}},` +
    `{"type":"tool_addition","tool":{"type":"tool_definition","definition": ${tool}}},` +
    `{"type":"compaction","tool_changes":[ null , {"tool":{"definition":${change}}}]}]}],"model":"m"}`;
  t.equal(
    await sentFor(
      '/v1/messages',
      body('{"type":"web_search_20250305"}', '{"type":"web_fetch_20260318","max_uses":2}'),
    ),
    body(
      '{"max_uses":3,"type":"web_search_20250305"}',
      '{"max_content_tokens":50000,"type":"web_fetch_20260318","max_uses":2}',
    ),
  );
});

test('a bound that a tool says twice is refused', async (t) => {
  const body = (tool: string) => `{"model":"m","messages":[],"tools":[${tool}]}`;
  await t.rejects(
    sentFor('/v1/messages', body('{"type":"web_search_20250305","max_uses":90,"max_uses":null}')),
    { code: 'invalid_json', param: 'tools' },
  );
});

test('tools nested very deep are found without running out of stack or time', async (t) => {
  const tool = '{"type":"tool_addition","tool":{"definition":{"type":"web_search_20250305"}}}';
  const body = (inner: string) =>
    `{"model":"m","messages":[${'{"content":['.repeat(5_000)}${inner}${']}'.repeat(5_000)}]}`;
  t.ok(
    (await sentFor('/v1/messages', body(tool))) ===
      body(tool.replace('{"type":"web', '{"max_uses":3,"type":"web')),
  );
});
