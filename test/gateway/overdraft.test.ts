import t from 'tap';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const CALLS = 1_000;

/** Costs the whole answer that a call may get: 0.1 credits, and 0.012 for the input. */
const ANSWER = {
  object: 'chat.completion',
  choices: [{ index: 0, finish_reason: 'length', message: { role: 'assistant', content: 'x' } }],
  usage: { prompt_tokens: 12, completion_tokens: 50, total_tokens: 62 },
};

for (const overdraft of [0, 5]) {
  t.test(
    `1,000 concurrent calls over HTTP, overdraft ${overdraft}: the balance stays above the line`,
    async (t) => {
      // With a shared one, the connections of the first round would reach their idle limit during the second.
      const world = await startOwnGateway(t, { behave: () => ({ body: ANSWER }) });
      const { key, accountId } = await world.account({ credits: 5, overdraft });
      const call = async () => {
        const answer = await world.chat(key, { model: 'tokens', max_tokens: 50 });
        await answer.text();
        return answer.status;
      };
      const statuses = await Promise.all(Array.from({ length: CALLS }, call));
      await world.settled();
      const served = statuses.filter((status) => status === 200).length;
      t.ok(served >= 5, `${served} were served`);
      t.equal(statuses.filter((status) => status === 402).length, CALLS - served);
      const { balance, held, estimated } = await world.ledger.ledger.account(accountId);
      t.ok(balance >= -overdraft * 1_000_000, `the balance is ${balance}`);
      t.same([held, estimated], [0, 0]);
      t.equal(balance, 5_000_000 - served * 112_000, 'each was charged');
    },
  );
}
