import { test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { DemoUpstreams } from '../../src/demo/demo-provider.ts';

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
