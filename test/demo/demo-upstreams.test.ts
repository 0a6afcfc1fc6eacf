import { test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { DemoUpstreams } from '../../src/demo/demo-provider.ts';
import { type Model, modelIn } from '../../src/domain/catalog.ts';

test('the demo upstream gets the address of a running provider', async (t) => {
  const demo = new DemoUpstreams();
  t.teardown(() => demo.close());
  const config = await demo.bind(loadConfig({ env: {}, file: 'config/gateway.yaml' }));
  const model = config.catalog.get('demo-chat');
  t.match(model?.upstream.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.equal(model?.upstream, config.upstreams.get('demo'));
  t.equal((await fetch(`${model?.upstream.url}/v1/models`)).status, 200);
});

test('without a demo upstream nothing is started and nothing changes', async (t) => {
  const folder = t.testdir({ 'gateway.yaml': '{ upstreams: {}, models: {} }' });
  const loaded = loadConfig({ env: {}, file: `${folder}/gateway.yaml` });
  const demo = new DemoUpstreams();
  t.equal(await demo.bind(loaded), loaded);
  await demo.close();
});

test('one provider serves every configuration that asks for it', async (t) => {
  const demo = new DemoUpstreams();
  t.teardown(() => demo.close());
  const loaded = loadConfig({ env: {}, file: 'config/gateway.yaml' });
  const [first, second] = [await demo.bind(loaded), await demo.bind(loaded)];
  t.equal(first.catalog.get('demo-chat')?.upstream.url, second.catalog.get('demo-chat')?.upstream.url);
});

test('a model can be at the demo in both formats', async (t) => {
  const folder = t.testdir({
    'gateway.yaml': `upstreams: { both: { url: demo, format: openai, messagesUrl: demo } }
models: { m: { upstream: both, category: text, free: true } }
`,
  });
  const demo = new DemoUpstreams();
  t.teardown(() => demo.close());
  const { catalog } = await demo.bind(loadConfig({ env: {}, file: `${folder}/gateway.yaml` }));
  const urls = (['openai', 'anthropic'] as const).map((format) => {
    const model = modelIn(catalog.get('m') as Model, format);
    return [model?.upstream.format, model?.upstream.url];
  });
  const url = urls[0]?.[1];
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.same(urls, [
    ['openai', url],
    ['anthropic', url],
  ]);
});
