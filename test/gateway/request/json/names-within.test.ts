import { test } from 'tap';
import { foldName } from '../../../../src/domain/errors.ts';
import {
  type ReadJson,
  type RootNames,
  readJson,
  readJsonInPieces,
} from '../../../../src/gateway/request/json/json-reader.ts';
import { inMemory } from '../../../../src/metering/byte-source.ts';
import fc, { MANY } from '../../../helper/suite/fast-check.ts';

const ANY_NAME: RootNames = { take: () => true };

/** JSON with its names as written, including repeated ones. */
type Written = string | readonly Written[] | { readonly members: readonly (readonly [string, Written])[] };

const CHECKED = ['messages', 'input', 'tools', 'system', 'thinking', 'prompt', 'cache_control'];
const NAMES = [
  'type',
  'content',
  'input',
  'a',
  'b',
  'parameters',
  'input_schema',
  'metadata',
  'arguments',
  'TYPE',
  'A',
];
const SCALARS = [
  '1',
  '-0.5e3',
  'true',
  'null',
  '"tool_use"',
  '"text"',
  '"server_tool\\u005fuse"',
  '"\\ud83d"',
  '"é"',
];

const { root } = fc.letrec<{ value: Written; root: Written }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...SCALARS),
    fc.constantFrom('x'.repeat(600), 'y"'.repeat(5_000), '\\n').map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 3 }),
    membersOf(fc.constantFrom(...NAMES), tie('value')),
  ),
  root: membersOf(fc.constantFrom(...CHECKED, 'x', 'y'), tie('value')).map((written) => ({
    // Other code compares the names of the request itself.
    members: [...new Map((written as { members: readonly (readonly [string, Written])[] }).members)],
  })),
}));

function membersOf(names: fc.Arbitrary<string>, values: fc.Arbitrary<Written>): fc.Arbitrary<Written> {
  return fc.array(fc.tuple(names, values), { maxLength: 4 }).map((members) => ({ members }) as Written);
}

/** The JSON text of a value. `spell` writes a name, `space` goes between tokens. */
function textOf(value: Written, spell: (name: string) => string, space: string): string {
  if (typeof value === 'string') return value;
  const inner = isList(value)
    ? value.map((one) => textOf(one, spell, space))
    : value.members.map(([name, one]) => `"${spell(name)}"${space}:${textOf(one, spell, space)}`);
  const text = inner.join(`${space},${space}`);
  return isList(value) ? `[${space}${text}]` : `{${text}${space}}`;
}

const isList = (value: Written): value is readonly Written[] => Array.isArray(value);

const FREE = new Set(['parameters', 'input_schema', 'metadata', 'arguments']);

/** The rule of specification section 4, computed by walking the value. */
function isTwofold(value: Written): boolean {
  if (typeof value === 'string') return false;
  if (isList(value)) return value.some(isTwofold);
  const { members } = value;
  const names = members.map(([name]) => foldName(name));
  if (new Set(names).size < names.length || members.some(([name]) => name === 'TYPE')) return true;
  const type = members.find(([name]) => name === 'type')?.[1];
  const callsTool = typeof type === 'string' && type.startsWith('"') && /tool_use$/.test(JSON.parse(type));
  return members.some(
    ([name, inner]) => !FREE.has(name) && !(name === 'input' && callsTool) && isTwofold(inner),
  );
}

const hex = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
const SPELLINGS = [(name: string) => name, (name: string) => name.replace(/./, hex)];

test('names that are said twice are found as a walk through the whole value finds them', async (t) => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      root,
      fc.constantFrom(...SPELLINGS),
      fc.constantFrom('', ' ', '\n\t'),
      async (value, spell, space) => {
        const { members } = value as { members: readonly (readonly [string, Written])[] };
        const expected = members.some(([name, inner]) => CHECKED.includes(name) && isTwofold(inner));
        const text = textOf(value, spell, space);
        const bytes = Buffer.from(text);
        const codeOf = (error: unknown) => (error as { code: string }).code;
        let found: string | undefined;
        try {
          readJson(bytes, ANY_NAME).parse();
        } catch (error) {
          found = codeOf(error);
        }
        const inPieces = await readJsonInPieces(inMemory(bytes), ANY_NAME).then(() => undefined, codeOf);
        if (expected) refused++;
        return found === inPieces && found === (expected ? 'invalid_json' : undefined);
      },
    ),
    MANY,
  );
  t.ok(refused > 100, `${refused} were refused`);
});

test('a kept body is its value without long strings and the contents of free values', async (t) => {
  const keptOf = (value: Written, isChecked: boolean): unknown => {
    if (typeof value === 'string') return value.length > 512 ? 'long' : JSON.parse(value);
    if (isList(value)) return value.map((one) => keptOf(one, isChecked));
    return Object.fromEntries(
      value.members.map(([name, inner]) => {
        const bytes = Buffer.byteLength(textOf(inner, (one) => one, ''));
        if (!isChecked || !FREE.has(name) || typeof inner === 'string' || bytes < 130)
          return [name, keptOf(inner, isChecked && !FREE.has(name))];
        return [name, isList(inner) ? [] : {}];
      }),
    );
  };
  let read = 0;
  await fc.assert(
    fc.property(root, (value) => {
      const members = [
        ...(value as { members: [string, Written][] }).members,
        ['pad', `"${'x'.repeat(9_000)}"`],
      ];
      const bytes = Buffer.from(textOf({ members } as Written, (name) => name, ''));
      let reduced: ReadJson;
      try {
        reduced = readJson(bytes, ANY_NAME);
      } catch {
        return;
      }
      read++;
      const { elidedStrings } = reduced;
      const shortened = (one: unknown): unknown => {
        if (typeof one === 'string') return elidedStrings?.get(one) ? 'long' : one;
        if (Array.isArray(one)) return one.map(shortened);
        if (typeof one !== 'object' || one === null) return one;
        return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, shortened(inner)]));
      };
      const expected = members.map(([name, inner]) => [
        name,
        keptOf(inner as Written, CHECKED.includes(name as string)),
      ]);
      t.same(shortened(reduced.parse()), Object.fromEntries(expected));
    }),
    MANY,
  );
  t.ok(read > 100, `${read} were read`);
});

test('a value with free names is checked as JSON.parse checks it', async (t) => {
  const PIECES = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"\\x"',
    '1',
    '01',
    '-',
    '1.5e+3',
    'true',
    'nul',
    ' ',
    '\n',
    '"',
    '\t1',
  ];
  let valid = 0;
  await fc.assert(
    fc.property(
      fc.oneof(
        fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join('')),
        fc.json(),
        fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...PIECES)).map(([json, at, piece]) => {
          const cut = at % (json.length + 1);
          return json.slice(0, cut) + piece + json.slice(cut + 1);
        }),
      ),
      (schema) => {
        const text = `{"tools":[{"type":"function","parameters":${schema}}],"metadata":1}`;
        const isValid = (work: () => unknown) => {
          try {
            work();
            return true;
          } catch {
            return false;
          }
        };
        const expected = isValid(() => JSON.parse(text));
        if (expected) valid++;
        const found = isValid(() => readJson(Buffer.from(text), ANY_NAME).parse());
        // A piece may close the tool itself and name it twice.
        return found === expected || (expected && !found && !isValid(() => JSON.parse(schema)));
      },
    ),
    MANY,
  );
  t.ok(valid > 500, `${valid} were valid`);
});
