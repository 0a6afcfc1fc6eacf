import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { load } from '../../helper/fixtures/config-file.ts';
import { type ReceivedRequest, startScriptedProvider } from '../../helper/stand-ins/scripted-provider.ts';
import { lastCharge, startOwnGateway } from '../../helper/start/gateway-in-process.ts';

/** The environment of one test. The library of each cloud reads it once a process, so each cloud has one test. */
function setEnv(t: Test, values: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(values)) {
    const before = process.env[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
    t.teardown(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
}

const ENV = { GOOGLE_CLOUD_LOCATION: 'europe-west1', GOOGLE_CLOUD_PROJECT: 'shop', AWS_REGION: 'eu-west-1' };

const ANSWER = {
  choices: [{ message: { content: 'hi' } }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
};

async function startCloud(t: Test, name: 'vertex' | 'bedrock') {
  const provider = await startScriptedProvider({ behave: () => ({ body: ANSWER }) });
  t.teardown(() => provider.close());
  const yaml = `upstreams:
  cloud: { provider: ${name}, url: "${provider.url}/cloud" }
  plain: { url: "${provider.url}/plain", format: openai, apiKey: k }
models:
  m: { targets: [{ upstream: cloud }, { upstream: plain, priority: 2 }], category: text, maxOutputTokens: 100, price: { request: 1 } }
  alone: { upstream: cloud, category: text, maxOutputTokens: 100, price: { request: 1 } }
`;
  const world = await startOwnGateway(t, { provider, config: { catalog: load(t, yaml, ENV).catalog } });
  return { ...world, owner: await world.account() };
}

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cloud-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('without a cloud credential nothing is sent there, and another target answers', async (t) => {
  setEnv(t, { GOOGLE_APPLICATION_CREDENTIALS: join(folderOf(t), 'missing.json') });
  const world = await startCloud(t, 'vertex');
  t.equal((await world.chat(world.owner.key, { model: 'm' })).status, 200);
  const alone = await world.chat(world.owner.key, { model: 'alone' });
  t.equal(alone.status, 502);
  t.match(await alone.json(), { error: { code: 'upstream_auth_failed' } });
  t.same(
    world.provider.requests.map(({ url }) => url),
    ['/plain/v1/chat/completions'],
  );
  t.match(await lastCharge(world, world.owner.accountId), { credits: 0, outcome: 'upstream_unreachable' });
});

test('Vertex gets a token that its own library exchanges, fetched once', async (t) => {
  const tokens = await startScriptedProvider({
    behave: () => ({ body: { access_token: 'ya29.token', expires_in: 3_600, token_type: 'Bearer' } }),
  });
  t.teardown(() => tokens.close());
  const folder = folderOf(t);
  writeFileSync(join(folder, 'subject'), 'token-of-the-workload');
  const file = join(folder, 'account.json');
  const account = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/own',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${tokens.url}/token`,
    credential_source: { file: join(folder, 'subject') },
  };
  writeFileSync(file, JSON.stringify(account));
  setEnv(t, { GOOGLE_APPLICATION_CREDENTIALS: file, GOOGLE_CLOUD_PROJECT: 'shop' });
  const world = await startCloud(t, 'vertex');
  for (let call = 0; call < 2; call++)
    t.equal((await world.chat(world.owner.key, { model: 'm' })).status, 200);
  t.equal(tokens.requests.length, 1);
  t.match(tokens.requests[0]?.body.toString(), 'token-of-the-workload');
  for (const { url, headers } of world.provider.requests) {
    t.equal(url, '/cloud/v1/projects/shop/locations/europe-west1/endpoints/openapi/chat/completions');
    t.equal(headers.authorization, 'Bearer ya29.token');
  }
  t.match(await lastCharge(world, world.owner.accountId), { upstream: 'cloud', credits: -1_000_000 });
});

/** AWS Signature Version 4 (its reference, "Create a signed request"), computed independently. */
function signatureOf({ body, headers, url }: ReceivedRequest, secret: string): string {
  const hash = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const [, scope = '', names = ''] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+),/.exec(String(headers.authorization)) ?? [];
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = ['POST', url, '', signed.join(''), names, hash(body)].join('\n');
  const text = ['AWS4-HMAC-SHA256', String(headers['x-amz-date']), scope, hash(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>((made, part) => hmac(made, part), `AWS4${secret}`);
  return hmac(key, text).toString('hex');
}

test("Bedrock gets AWS's signature", async (t) => {
  const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
  setEnv(t, {
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: secret,
    AWS_REGION: 'eu-west-1',
    AWS_EC2_METADATA_DISABLED: 'true',
  });
  const world = await startCloud(t, 'bedrock');
  t.equal((await world.chat(world.owner.key, { model: 'm' })).status, 200);
  const sent = await world.provider.request(0);
  t.equal(sent.url, '/cloud/openai/v1/chat/completions');
  t.match(
    sent.headers.authorization,
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, /,
  );
  t.equal(sent.headers['x-amz-content-sha256'], createHash('sha256').update(sent.body).digest('hex'));
  t.ok(
    String(sent.headers.authorization).endsWith(`Signature=${signatureOf(sent, secret)}`),
    'the signature is right',
  );
  t.match(await lastCharge(world, world.owner.accountId), { upstream: 'cloud', credits: -1_000_000 });
});
