import { test } from 'tap';
import { indexOf, inMemory, piecesOf, rangeOf, WINDOW_BYTES } from '../../src/metering/byte-source.ts';

const letters = inMemory(Buffer.from('abcdef'));
const textOf = async (source: typeof letters) => (await source.read(0, source.size)).toString();

test('a range of a source has no byte before its start, behind its end or behind the source', async (t) => {
  const range = rangeOf(letters, 1, 3);
  t.equal(range.size, 2);
  t.equal((await range.read(0, 9)).toString(), 'bc');
  t.equal((await range.read(1, 2)).toString(), 'c');
  t.equal(await textOf(rangeOf(letters, 4, 99)), 'ef');
  t.equal(rangeOf(letters, 9, 12).size, 0);
});

test('pieces are those of the range, in order', async (t) => {
  const pieces: string[] = [];
  for await (const piece of piecesOf(letters, 1, 6, 2)) pieces.push(piece.toString());
  t.same(pieces, ['bc', 'de', 'f']);
});

test('a needle is found at the seam of two windows', async (t) => {
  const bytes = Buffer.alloc(WINDOW_BYTES + 10);
  bytes.write('needle', WINDOW_BYTES - 3);
  t.equal(await indexOf(inMemory(bytes), Buffer.from('needle'), 0), WINDOW_BYTES - 3);
  t.equal(await indexOf(inMemory(bytes), Buffer.from('needle'), WINDOW_BYTES - 2), -1);
});
