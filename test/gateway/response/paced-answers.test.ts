import { createHash } from 'node:crypto';
import { test } from 'tap';
import type { Dispatcher } from 'undici';
import { Exchange } from '../../../src/gateway/upstream/exchange.ts';
import { startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

test('waiting parts of an answer keep their order and pause reading', async (t) => {
  const later: (() => void)[] = [];
  const log: string[] = [];
  const controller = { pause: () => log.push('pause'), resume: () => log.push('resume') };
  const exchange = new Exchange((work) => later.push(work));
  exchange.answered = (_error, answer) =>
    answer?.body.pipe({
      data: (chunk) => {
        log.push(chunk.toString());
        return chunk.toString() !== 'c';
      },
      end: () => log.push('end'),
      error: (error) => log.push(error.message),
    });
  const undici = controller as unknown as Dispatcher.DispatchController;
  exchange.onRequestStart(undici);
  exchange.onResponseStart(undici, 200, {});
  const send = (...chunks: string[]) => {
    for (const chunk of chunks) exchange.onResponseData(undici, Buffer.from(chunk));
  };
  const work = () => {
    for (const each of later.splice(0)) each();
    return log.splice(0);
  };
  send('a', 'b');
  t.same(work(), ['a', 'b']);
  const long = 'x'.repeat(100_000);
  send(long, long);
  t.same(log.splice(0), ['pause'], 'more than undici reads at once');
  t.same(work(), [long, long, 'resume']);
  send('a', 'c');
  t.same(work(), ['a', 'c', 'pause'], 'the client takes no more');
  send('a', 'b');
  exchange.onResponseError(undici, new Error('broke off'));
  t.same(work(), ['a', 'b', 'broke off']);
});

test('each waiting part of an answer copied the rest of the read data', async (t) => {
  const later: (() => void)[] = [];
  let taken = 0;
  let pauses = 0;
  const exchange = new Exchange((work) => later.push(work));
  exchange.answered = (_error, answer) =>
    answer?.body.pipe({
      data: (chunk) => {
        taken += chunk.length;
        return true;
      },
      end: () => {},
      error: (error) => t.fail(error.message),
    });
  const controller = { pause: () => pauses++, resume: () => {} } as unknown as Dispatcher.DispatchController;
  exchange.onRequestStart(controller);
  exchange.onResponseStart(controller, 200, {});
  for (let part = 0; part < 4; part++) exchange.onResponseData(controller, Buffer.alloc(4 * 1024));
  t.equal(pauses, 0);
  t.equal(later.length, 1);
  later[0]?.();
  t.equal(taken, 16 * 1024);
});

test('an answer of which more came while it was resumed stood still', async (t) => {
  const later: (() => void)[] = [];
  let resumed = 0;
  const exchange = new Exchange((work) => later.push(work));
  exchange.answered = (_error, answer) =>
    answer?.body.pipe({ data: () => true, end: () => {}, error: (error) => t.fail(error.message) });
  const send = () => {
    for (let part = 0; part < 2; part++) exchange.onResponseData(undici, Buffer.alloc(100_000));
  };
  const controller = {
    pause: () => {},
    resume: () => {
      if (++resumed === 1) send();
    },
  };
  const undici = controller as unknown as Dispatcher.DispatchController;
  exchange.onRequestStart(undici);
  exchange.onResponseStart(undici, 200, {});
  send();
  while (later.length > 0) later.shift()?.();
  t.equal(resumed, 2);
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
