/** Pieces of JSON of about `bytes` together; `piece` makes each from its number. */
function filled(
  head: string,
  piece: string | ((index: number) => string),
  tail: string,
  bytes: number,
): Buffer {
  const pieces = [head];
  let length = head.length + tail.length;
  for (let index = 0; length < bytes; index++) {
    const next = typeof piece === 'string' ? piece : piece(index);
    pieces.push(next);
    length += next.length;
  }
  pieces.push(tail);
  return Buffer.from(pieces.join(''), 'latin1');
}

type Shape = readonly [head: string, piece: string | ((index: number) => string), tail: string];

/** Makers of values that are expensive in different ways: to parse, to search, or to keep in memory. */
const SHAPES = {
  'empty objects': ['[{}', ',{}', ']'],
  'empty lists': ['[[]', ',[]', ']'],
  'numbers of tokens': ['[1', (index) => `,${(index * 7919) % 100_000}`, ']'],
  'numbers with exponents': ['[1', ',1e9', ']'],
  'long numbers': ['[1', `,1.${'3'.repeat(760)}`, ']'],
  'one long number': ['1', '1', ''],
  'strings of two letters': [
    '[1',
    (index) => `,"${String.fromCharCode(97 + (index % 26), 97 + ((index * 7) % 26))}"`,
    ']',
  ],
  'empty strings': ['[1', ',""', ']'],
  'escaped strings': ['[1', `,"${'\\u0100'.repeat(80)}"`, ']'],
  'strings of escaped quotes': ['[1', `,"${'\\"'.repeat(40)}"`, ']'],
  'slashes without end': ['"', '\\\\', '"'],
  'strings of half a kilobyte': ['[1', `,"${'x'.repeat(500)}"`, ']'],
  'strings just too long to keep': ['[1', `,"${'x'.repeat(520)}"`, ']'],
  'strings just too long, of two-byte letters': ['[1', `,"${'\\u0100'.repeat(90)}"`, ']'],
  'strings of 5 KB': ['[1', `,"${'x'.repeat(5_000)}"`, ']'],
  'the same name': ['{"k":0', ',"k":0', '}'],
  'names that differ': ['{"k":0', (index) => `,"k${index}":0`, '}'],
  'objects of one name each': ['[1', (index) => `,{"k${index}":0}`, ']'],
  'long names': ['{"k":0', (index) => `,"${index}${'n'.repeat(4_000)}":0`, '}'],
  'names with escapes': ['{"k":0', (index) => `,"${'\\u0100'.repeat(6)}${index}":0`, '}'],
  'one name of all': ['{"', 'n', '":0}'],
  'tiny messages': ['[{}', ',{"role":"user","content":"a"}', ']'],
  'tiny parts': ['[{}', ',{"content":[{"type":"x"}]}', ']'],
  'tiny references': ['[{}', (index) => `,{"id":"a${index}"}`, ']'],
  'white space': ['[', ' ', ']'],
  'nested in a string': ['"', '[{', '"'],
  'one text': ['"', 'words ', '"'],
  'signs only': ['', ':', ''],
} as const satisfies Record<string, Shape>;

export type WorstShape = keyof typeof SHAPES | 'deep lists' | 'deep objects' | 'outermost names';
export const WORST_SHAPES = [
  ...Object.keys(SHAPES),
  'deep lists',
  'deep objects',
  'outermost names',
] as readonly WorstShape[];

/**
 * A request of about `bytes` with a value of the shape in `field`. `start` is its other members, each with its comma.
 */
export function worstJson(
  shape: WorstShape,
  bytes: number,
  field = 'messages',
  start = '"model":"sees",',
): Buffer {
  if (shape === 'outermost names')
    return filled(`{${start}"${field}":[]`, (index) => `,"k${index}":0`, '}', bytes);
  const head = `{${start}"${field}":`;
  if (shape === 'deep lists' || shape === 'deep objects') {
    const open = shape === 'deep lists' ? '[' : '{"a":';
    const levels = Math.floor((bytes - head.length) / (open.length + 1));
    return Buffer.from(
      `${head}${open.repeat(levels)}1${(shape === 'deep lists' ? ']' : '}').repeat(levels)}}`,
    );
  }
  const [first, piece, last] = SHAPES[shape];
  return filled(head + first, piece, `${last}}`, bytes);
}
