import { createHash } from 'node:crypto';
import { test } from 'tap';
import type { Dispatcher } from 'undici';
import { Exchange } from '../../../src/gateway/upstream/exchange.ts';
import { startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

test('parts of an answer that wait for their turn keep their order, and no more is read meanwhile', async (t) => {
  const later: (() => void)[] = [];
  const log: string[] = [];
  const controller = { pause: () => log.push('pause'), resume: () => log.push('resume') };
  const exchange = new Exchange((work) => later.push(work));
  exchange.answered = (_error, answer) =>
    answer?.body.pipe({
      data: (chunk) => {
        log.push(chunk.toString());
        return chunk.length < 3;
      },
      end: () => log.push('end'),
      error: (error) => log.push(error.message),
    });
  const undici = controller as unknown as Dispatcher.DispatchController;
  exchange.onRequestStart(undici);
  exchange.onResponseStart(undici, 200, {});
  for (const chunk of ['a', 'b', 'full']) exchange.onResponseData(undici, Buffer.from(chunk));
  exchange.onResponseError(undici, new Error('broke off'));
  t.same(log, ['pause', 'pause', 'pause']);
  for (const work of later) work();
  t.same(log.slice(3), ['a', 'resume', 'b', 'resume', 'full', 'pause', 'broke off']);
});

test('answers that come together are paced, and each is whole', async (t) => {
  const gate = Promise.withResolvers<void>();
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  const body = { id: 'x', object: 'chat.completion', choices: [], pad: 'x'.repeat(200_000), usage };
  const { provider, account, chat } = await startGatewayInProcess(t, {
    behave: () => ({ body, waitAfter: { pieces: 'nothing', until: gate.promise } }),
  });
  const { key } = await account({ credits: 1_000 });
  const calls = Array.from({ length: 200 }, () => chat(key));
  await provider.request(199);
  gate.resolve();
  const digests = new Set<string>();
  for (const call of calls) {
    const answer = await call;
    t.equal(answer.status, 200);
    digests.add(
      createHash('sha256')
        .update(await answer.text())
        .digest('hex'),
    );
  }
  t.equal(digests.size, 1);
});
