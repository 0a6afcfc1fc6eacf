import { type Test, test } from 'tap';
import { startMediaGateway } from '../helper/start/media-gateway.ts';

/**
 * Bodies, by what they say twice. The gateway could hold by the one and the provider bill by the other. `…` stands for
 * the model and the members that the endpoint needs.
 */
const TWICE: Readonly<Record<string, readonly string[]>> = {
  '/v1/messages': [
    '{…,"tools":[{"type":"web_search_20250305","type":"custom","name":"a"}]}',
    '{…,"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":1000,"max_uses":1}]}',
    '{…,"tools":[{"name":"a","cache_control":{"type":"ephemeral","ttl":"1h","ttl":"5m"},"input_schema":{}}]}',
    '{…,"thinking":{"type":"enabled","budget_tokens":30000,"budget_tokens":1}}',
    '{…,"cache_control":{"type":"ephemeral","ttl":"1h","\\u0074tl":"5m"}}',
    '{…,"system":[{"type":"text","text":"a","cache_control":{"ttl":"1h"},"cache_control":null}]}',
    '{…,"container":{"id":"container_1","id":""}}',
    '{…,"context_management":{"edits":[{"type":"compact_20260112","type":"clear_tool_uses_20250919"}]}}',
    '{…,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"file","type":"base64","file_id":"file-1","data":""}}]}]}',
    '{…,"messages":[{"role":"user","content":"a","content":"b"}]}',
    '{…,"messages":[{"role":"user","content":[{"type":"text","text":"a","Text":"b"}]}]}',
    // Not the input of a tool call, whatever its name is.
    '{…,"messages":[{"role":"user","content":[{"type":"text","text":"a","input":{"a":1,"a":2}}]}]}',
    '{…,"messages":[{"role":"user","content":[{"input":{"x":[{"a":1,"a":2}]},"type":"tool_used"}]}]}',
  ],
  '/v1/responses': [
    '{…,"tools":[{"type":"code_interpreter","type":"function","name":"a"}]}',
    '{…,"input":[{"type":"message","role":"user","content":[{"type":"input_file","file_id":"file-OTHER","file_id":null}]}]}',
    '{…,"input":[{"type":"message","role":"user","content":[{"type":"input_file","file_id":"file-OTHER","file_\\u0131d":""}]}]}',
    '{…,"input":[{"type":"additional_tools","tools":[{"type":"web_search","type":"function"}]}]}',
    '{…,"reasoning":{"mode":"pro","mode":"standard"}}',
    '{…,"conversation":{"id":"conv_1","id":""}}',
    '{…,"prompt":{"id":"pmpt_1","variables":{"a":"1","a":"2"}}}',
    '{…,"context_management":[{"type":"compaction","compact_threshold":1,"compact_threshold":1000000}]}',
    '{…,"tools":[{"type":"mcp","server_label":"a","server_url":"https://a.example","headers":{"A":"1","a":"2"}}]}',
  ],
  '/v1/chat/completions': [
    '{…,"tools":[{"type":"function","function":{"name":"a","name":"b"}}]}',
    '{…,"messages":[{"role":"user","content":[{"type":"text","type":"image_url","text":"a"}]}]}',
    '{…,"messages":[{"role":"user","content":"a","Role":"system"}]}',
    '{…,"messages":[{"role":"assistant","tool_calls":[{"id":"a","id":"b","type":"function"}]}]}',
    `{…,"messages":[{"role":"user","content":"a",${Array.from({ length: 40 }, (_, n) => `"k${n}":0`)},"k3":0}]}`,
  ],
};

/** Repeated names in objects whose names the client or the model chooses. */
const FREE: Readonly<Record<string, readonly string[]>> = {
  '/v1/messages': [
    '{…,"tools":[{"name":"a","input_schema":{"type":"object","type":"object","properties":{"Type":{},"type":{}}}}]}',
    '{…,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"a","input":{"a":1,"a":2,"Type":3}}]}]}',
    '{…,"messages":[{"role":"assistant","content":[{"input":{"a":[{"b":1,"b":2}]},"id":"a","name":"a","type":"tool\\u005fuse"}]}]}',
    '{…,"metadata":{"user_id":"a","user_id":"b"}}',
  ],
  '/v1/responses': ['{…,"tools":[{"type":"function","name":"a","parameters":{"a":1,"a":2}}]}'],
  '/v1/chat/completions': [
    '{…,"tools":[{"type":"function","function":{"name":"a","parameters":{"a":{"b":1,"b":2}}}}]}',
    '{…,"logit_bias":{"1":0,"1":1}}',
    '{…,"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}',
  ],
};

const NEEDED: Readonly<Record<string, string>> = {
  '/v1/messages': '"model":"claude","max_tokens":10',
  '/v1/responses': '"model":"tokens"',
  '/v1/chat/completions': '"model":"tokens"',
};

/** The body itself and, for the first body of an endpoint, one that is too large to stay in memory. */
function sizesOf(path: string, body: string, index: number): readonly string[] {
  const small = body.replace('…', () => NEEDED[path] ?? '');
  return index > 0 ? [small] : [small, `${small.slice(0, -1)},"user":"${'x'.repeat(1.3 * 2 ** 20)}"}`];
}

async function answers(
  t: Test,
  cases: typeof TWICE,
  check: (status: number, text: string, body: string) => void,
) {
  const world = await startMediaGateway(t, ({ url }) =>
    url === '/v1/messages'
      ? { body: { usage: { input_tokens: 1, output_tokens: 1 } } }
      : { body: { usage: { prompt_tokens: 1, completion_tokens: 1, input_tokens: 1, output_tokens: 1 } } },
  );
  const { key } = await world.account();
  for (const [path, bodies] of Object.entries(cases)) {
    for (const [index, body] of bodies.entries()) {
      for (const sized of sizesOf(path, body, index)) {
        const response = await world.post(key, path, sized);
        check(response.status, await response.text(), body);
      }
    }
  }
  return world.provider.requests.length;
}

test('repeated nested members that the gateway decides by reached the provider', async (t) => {
  const sent = await answers(t, TWICE, (status, text, body) => {
    t.equal(status, 400, body);
    t.match(text, /"code":"invalid_json"/, body);
  });
  t.equal(sent, 0);
});

test('names in schemas, arguments and labels may come twice', async (t) => {
  await answers(t, FREE, (status, _text, body) => t.equal(status, 200, body));
});
