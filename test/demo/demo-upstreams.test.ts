import { test } from 'tap';
import { startDemoUpstreams } from '../../src/demo/demo-upstreams.ts';
import { loadConfig } from '../../src/load-config.ts';

test('the demo upstream gets the address of a running provider', async (t) => {
  const { config, close } = await startDemoUpstreams(loadConfig({ env: {}, file: 'config/gateway.yaml' }));
  t.teardown(close);
  const model = config.catalog.get('demo-chat');
  t.match(model?.upstream.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.equal(model?.upstream, config.upstreams.get('demo'));
  t.equal((await fetch(`${model?.upstream.url}/v1/models`)).status, 200);
});

test('without a demo upstream nothing is started and nothing changes', async (t) => {
  const folder = t.testdir({ 'gateway.yaml': '{ upstreams: {}, models: {} }' });
  const loaded = loadConfig({ env: {}, file: `${folder}/gateway.yaml` });
  const { config, close } = await startDemoUpstreams(loaded);
  t.equal(config, loaded);
  await close();
});
