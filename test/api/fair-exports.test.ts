import Fastify from 'fastify';
import { test } from 'tap';
import { sendExport } from '../../src/api/http/long-answer.ts';
import { makePools, memoryBudget } from '../../src/shares/pools.ts';

const EXPORTS = 8;
const ROWS = 1_000;

test("several pages of an account's exports were made in one turn of the event loop", async (t) => {
  const pools = makePools({ waitingCalls: 8, memory: memoryBudget({ processes: 1 }) });
  const app = Fastify();
  t.teardown(() => app.close());
  let inTurn = 0;
  let most = 0;
  app.get('/', (_request, reply) =>
    sendExport<number, { row: number }, number>(pools, reply, {
      name: 'rows',
      format: 'csv',
      owner: 1,
      limit: ROWS,
      before: undefined,
      read: async (before = 0, limit) => Array.from({ length: limit }, (_, index) => before + index + 1),
      placeOf: (row) => row,
      viewOf: (row) => ({ row }),
      csvHeader: () => 'row\r\n',
      csvLine: ({ row }) => {
        inTurn++;
        return `${row}\r\n`;
      },
    }),
  );
  let isOver = false;
  const turn = () => {
    most = Math.max(most, inTurn);
    inTurn = 0;
    if (!isOver) setImmediate(turn);
  };
  turn();
  const answers = await Promise.all(Array.from({ length: EXPORTS }, () => app.inject('/')));
  isOver = true;
  const whole = `row\r\n${Array.from({ length: ROWS }, (_, index) => `${index + 1}\r\n`).join('')}`;
  for (const { body } of answers) t.equal(body, whole);
  t.ok(most <= 100, `${most} rows in one turn`);
  t.equal(pools.pages.use.places, 0);
});
