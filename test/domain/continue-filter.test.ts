import { test } from 'tap';
import { ContinueFilter } from '../../src/domain/continue-filter.ts';

const FINAL = 'HTTP/1.1 200 OK\r\nContent-Length: 32\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n1234567';
const CONTINUE = 'HTTP/1.1 100 Continue\r\nServer: a\r\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </HTTP/1.1 100>\r\n\r\n';

/** The bytes after the filter, which gets them in two pieces. */
function filtered(text: string, cut: number, filter = new ContinueFilter()): string {
  filter.begin();
  const pieces = [Buffer.from(text.slice(0, cut)), Buffer.from(text.slice(cut))];
  for (const piece of pieces) filter.edit(piece);
  return Buffer.concat(pieces).toString();
}

test('each 100 before an answer becomes a 102, wherever the pieces are cut, and nothing else changes', (t) => {
  const filter = new ContinueFilter();
  for (const [from, to] of [
    [FINAL, FINAL],
    [CONTINUE + FINAL, CONTINUE.replace('100', '102') + FINAL],
    [
      CONTINUE + CONTINUE + HINTS + CONTINUE + FINAL,
      CONTINUE.replace('100', '102').repeat(2) + HINTS + CONTINUE.replace('100', '102') + FINAL,
    ],
    [`\r\n\r\n${CONTINUE}\r\n${FINAL}`, `\r\n\r\n${CONTINUE.replace('100', '102')}\r\n${FINAL}`],
    ['HTTP/1.1 101 Switching\r\n\r\n', 'HTTP/1.1 101 Switching\r\n\r\n'],
    ['HTTP/1.1 110 Odd\r\n\r\n', 'HTTP/1.1 110 Odd\r\n\r\n'],
  ] as const)
    for (let cut = 0; cut < from.length; cut++)
      if (filtered(from, cut, filter) !== to) t.fail(`${JSON.stringify(from)} cut at ${cut}`);
  t.equal(filtered(CONTINUE, 0), CONTINUE.replace('100', '102'));
  t.end();
});

test('without a request, nothing changes', (t) => {
  const piece = Buffer.from(CONTINUE);
  new ContinueFilter().edit(piece);
  t.equal(piece.toString(), CONTINUE);
  t.end();
});
