import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { load } from '../../helper/fixtures/config-file.ts';
import { startScriptedProvider } from '../../helper/stand-ins/scripted-provider.ts';
import { lastCharge, startOwnGateway, testConfig } from '../../helper/start/gateway-in-process.ts';

test('a call ends in time while its cloud gives no credential', async (t) => {
  const cloud = await startScriptedProvider({ behave: () => ({ stallAfter: 'nothing' }) });
  t.teardown(() => cloud.close());
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cloud-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'subject'), 'token-of-the-workload');
  const account = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/own',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${cloud.url}/token`,
    credential_source: { file: join(folder, 'subject') },
  };
  writeFileSync(join(folder, 'account.json'), JSON.stringify(account));
  // The library reads it at the first call of this process.
  process.env.GOOGLE_APPLICATION_CREDENTIALS = join(folder, 'account.json');
  process.env.GOOGLE_CLOUD_PROJECT = 'shop';
  const yaml = `upstreams:
  cloud: { provider: vertex, url: "${cloud.url}/cloud" }
models:
  alone: { upstream: cloud, category: text, maxOutputTokens: 100, price: { request: 1 } }
`;
  const { catalog } = load(t, yaml, { GOOGLE_CLOUD_LOCATION: 'europe-west1', GOOGLE_CLOUD_PROJECT: 'shop' });
  const limits = { ...testConfig('', cloud.url).limits, requestTimeoutMs: 500 };
  const world = await startOwnGateway(t, { provider: cloud, config: { catalog, limits } });
  const owner = await world.account();
  const answer = await world.chat(owner.key, { model: 'alone' });
  t.equal(answer.status, 504);
  await answer.text();
  // On a busy machine, loading the library alone takes longer than the call may.
  const asked = cloud.requests.map(({ url }) => url);
  t.ok(
    asked.every((url) => url === '/token'),
    'no call reaches the provider',
  );
  t.match(await lastCharge(world, owner.accountId), { credits: 0 });
});
