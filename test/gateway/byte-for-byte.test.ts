import { test } from 'tap';
import type { Model } from '../../src/domain/catalog.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { startGatewayInProcess, testCatalog } from '../helper/start/gateway-in-process.ts';
import fc from '../helper/suite/fast-check.ts';

/**
 * JSON as text, in the oddest valid spellings. It is generated together with what is expected, so no parser is needed.
 */
const space = fc.constantFrom('', '', ' ', '\n', '\t\r\n', '    ');
const rawCharacter = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('a', ' ', 'model', '{', ']', ':', ',', 'é', '😀', '\u2028', '\u007f'),
  },
  fc.constantFrom('\\"', '\\\\', '\\/', '\\n', '\\u0000', '\\u006d', '\\ud83d\\ude00', '\\ud800', '\\uFFFF'),
);
const rawString = fc.array(rawCharacter, { maxLength: 8 }).map((all) => `"${all.join('')}"`);
const rawNumber = fc.constantFrom(
  '0',
  '-0',
  '1.0',
  '1.50',
  '12345678901234567890',
  '1e400',
  '-1E-400',
  '1e+2',
  '0.1000000000000000055511151231257827',
  '9007199254740993',
);
const { value: rawValue } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    rawString,
    rawNumber,
    fc.constantFrom('true', 'false', 'null'),
    fc
      .tuple(fc.array(fc.tuple(space, tie('value'), space), { maxLength: 3 }), space)
      .map(([all, empty]) => `[${all.map((one) => one.join('')).join(',') || empty}]`),
    fc
      .tuple(fc.array(fc.tuple(space, rawString, space, tie('value'), space), { maxLength: 3 }), space)
      .map(
        ([all, empty]) =>
          `{${all.map(([a, key, b, value, c]) => `${a}${key}${b}:${value}${c}`).join(',') || empty}}`,
      ),
  ),
}));
/** Names that mean nothing to the gateway, often repeated. */
const rawName = fc.constantFrom(
  '"user"',
  '"x"',
  '"x"',
  '"\\u0078"',
  '"modell"',
  '"metadata"',
  '"stop\\/"',
  '"é"',
  '""',
);

interface Member {
  readonly name: string;
  readonly value: string;
}

const other: fc.Arbitrary<Member> = fc.record({ name: rawName, value: rawValue });
/** A large body takes another path, through a file. A long string anywhere makes the body large. */
const long = (escaped: string): Member => ({
  name: '"long"',
  value: `"${'0123456789abcde/'.repeat(90_000)}${escaped}"`,
});

interface Shape {
  readonly before: string;
  readonly spaces: readonly string[];
  readonly members: readonly Member[];
}

const write = ({ before, spaces, members }: Shape) => {
  const gap = (index: number) => spaces[index % spaces.length] ?? '';
  const all = members.map(
    ({ name, value }, index) =>
      `${gap(index)}${name}${gap(index + 1)}:${gap(index + 2)}${value}${gap(index + 3)}`,
  );
  return `${before}{${all.join(',')}}${before}`;
};

const ENDPOINTS = [
  { path: '/v1/chat/completions', kind: 'text', needs: '"messages"' },
  { path: '/v1/completions', kind: 'text', needs: '"prompt"' },
  { path: '/v1/responses', kind: 'text', needs: '"input"' },
  { path: '/v1/responses/compact', kind: 'text', needs: '"input"' },
  { path: '/v1/responses/input_tokens', kind: 'text', needs: '"input"' },
  { path: '/v1/embeddings', kind: 'text', needs: '"input"' },
  { path: '/v1/moderations', kind: 'text', needs: '"input"' },
  { path: '/v1/messages', kind: 'claude', needs: '"messages"' },
  { path: '/v1/messages/count_tokens', kind: 'claude', needs: '"messages"' },
  { path: '/v1/images/generations', kind: 'image', needs: '"prompt"' },
  { path: '/v1/audio/speech', kind: 'tts', needs: '"input"' },
] as const;
/** The gateway makes streams of these endpoints report their usage. */
const ASKED: readonly string[] = ['/v1/chat/completions', '/v1/completions'];

/** The `stream_options` that is sent, and what arrives. Undefined: absent. */
const OPTIONS: readonly (readonly [sent: string | undefined, received: string])[] = [
  [undefined, '"stream_options":{"include_usage":true}'],
  ['null', '{"include_usage":true}'],
  ['{ }', '{"include_usage":true }'],
  ['{"x" : 1.0}', '{"include_usage":true,"x" : 1.0}'],
  ['{ "include_usage" : false , "x":1e400}', '{ "include_usage" : true , "x":1e400}'],
  ['{"\\u0069nclude_usage":0.10}', '{"\\u0069nclude_usage":true}'],
  ['{ "include_usage":true}', '{ "include_usage":true}'],
];

const shapes = fc.record({
  before: space,
  spaces: fc.array(space, { minLength: 4, maxLength: 7 }),
  others: fc.array(other, { maxLength: 5 }),
  /** The positions of the meaningful members among the others. */
  places: fc.array(fc.nat(6), { minLength: 4, maxLength: 4 }),
  endpoint: fc.constantFrom(...ENDPOINTS),
  isRenamed: fc.boolean(),
  options: fc.option(fc.constantFrom(...OPTIONS), { nil: undefined }),
  size: fc.constantFrom('small', 'small', 'small', 'large', 'large and not ASCII'),
});

test('bytes that the gateway need not change arrive as sent', async (t) => {
  const answer = { text: 'This is an answer of any endpoint but one.' };
  const provider = await startScriptedProvider({
    behave: ({ url }) => ({ body: url.endsWith('/speech') ? Buffer.from('sound') : answer }),
  });
  t.teardown(() => provider.close());
  const catalog = new Map(testCatalog(provider.url));
  const [text, anthropic] = [catalog.get('flat'), catalog.get('claude-flat')];
  if (!text || !anthropic) return t.fail('no models');
  const add = (model: Model, slug: string, category: Model['category']) => {
    catalog.set(slug, { ...model, slug, category, upstreamModel: slug });
    catalog.set(`${slug}-renamed`, {
      ...model,
      slug: `${slug}-renamed`,
      category,
      upstreamModel: 'o"ther/é',
    });
  };
  add(text, 'text', 'text');
  add(anthropic, 'claude', 'text');
  add(text, 'image', 'image');
  add(text, 'tts', 'tts');
  const world = await startGatewayInProcess(t, { provider, config: { catalog } });
  const { key } = await world.account({ credits: 1_000_000 });
  const tally = { changed: 0, unchanged: 0, spooled: 0 };

  await fc.assert(
    fc.asyncProperty(shapes, async (shape) => {
      const { endpoint, options, isRenamed, size, places } = shape;
      const slug = `${endpoint.kind}${isRenamed ? '-renamed' : ''}`;
      const isAsked = options !== undefined && ASKED.includes(endpoint.path);
      const own: (Member & { received?: string })[] = [
        {
          name: '"model"',
          value: JSON.stringify(slug),
          ...(isRenamed ? { received: '"o\\"ther/é"' } : {}),
        },
        {
          name: endpoint.needs,
          value: endpoint.needs === '"messages"' ? '[{"role":"user","content":"Hi"}]' : '"Hi"',
        },
      ];
      if (options) own.push({ name: '"stream"', value: 'true' });
      if (options?.[0] !== undefined) {
        own.push({
          name: '"stream_options"',
          value: options[0],
          ...(isAsked ? { received: options[1] } : {}),
        });
      }
      if (size !== 'small') own.push(long(size === 'large' ? '' : 'é\\n"😀'.replace('"', '\\"')));
      const members: (Member & { received?: string })[] = [...shape.others];
      for (const [index, member] of own.entries()) {
        members.splice((places[index % places.length] ?? 0) % (members.length + 1), 0, member);
      }
      const sent = write({ ...shape, members });
      let expected = write({
        ...shape,
        members: members.map(({ name, value, received }) => ({ name, value: received ?? value })),
      });
      if (isAsked && options[0] === undefined) {
        expected = expected.replace('{', () => `{${options[1]},`);
      }
      const n = provider.requests.length;
      const response = await fetch(`${world.url}${endpoint.path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: sent,
      });
      const answer = await response.text();
      if (response.status !== 200) throw new Error(`${response.status} ${answer.slice(0, 300)}`);
      const received = provider.requests[n]?.body.toString('utf8');
      tally[sent === expected ? 'unchanged' : 'changed']++;
      if (size !== 'small') tally.spooled++;
      if (received !== expected) throw new Error(`received ${received?.slice(0, 2_000)}`);
    }),
  );
  t.comment(JSON.stringify(tally));
  t.ok(tally.changed > 0 && tally.unchanged > 0 && tally.spooled > 0);
});
