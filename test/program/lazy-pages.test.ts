import Fastify from 'fastify';
import { test } from 'tap';
import { lazyPages } from '../../src/program/lazy-pages.ts';

async function pages() {
  const app = Fastify();
  app.get('/docs', async () => 'the page');
  let isClosed = false;
  app.addHook('onClose', async () => {
    isClosed = true;
  });
  await app.ready();
  return { app, isClosed: () => isClosed };
}

test('pages are made when the first is asked for, once however many ask', async (t) => {
  let made = 0;
  const app = Fastify();
  await app.register(
    lazyPages(async () => {
      made += 1;
      return (await pages()).app;
    }),
  );
  await app.ready();
  t.equal(made, 0);
  const url = await app.listen();
  t.teardown(() => app.close());
  const answers = await Promise.all([1, 2, 3].map(async () => (await fetch(`${url}/docs`)).text()));
  t.same(answers, ['the page', 'the page', 'the page']);
  t.equal(made, 1);
});

test('pages that could not be made are made by the next who asks', async (t) => {
  let tries = 0;
  const app = Fastify({ logger: false });
  await app.register(
    lazyPages(async () => {
      tries += 1;
      if (tries === 1) throw new Error('not yet');
      return (await pages()).app;
    }),
  );
  const url = await app.listen();
  t.teardown(() => app.close());
  t.equal((await fetch(`${url}/docs`)).status, 500);
  t.equal((await fetch(`${url}/docs`)).status, 200);
});

test('headers of the app that hands a page over are in its answer', async (t) => {
  const app = Fastify();
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-request-id', 'req_1');
  });
  await app.register(lazyPages(async () => (await pages()).app));
  const url = await app.listen();
  t.teardown(() => app.close());
  t.equal((await fetch(`${url}/docs`)).headers.get('x-request-id'), 'req_1');
});

test('pages are closed with the app', async (t) => {
  const inner = await pages();
  const app = Fastify();
  await app.register(lazyPages(async () => inner.app));
  const url = await app.listen();
  await (await fetch(`${url}/docs`)).text();
  await app.close();
  t.ok(inner.isClosed());
});
