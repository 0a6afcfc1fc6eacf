import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../src/config/load.ts';

/** Helm lints and renders the chart. Without a helm on the machine, Go builds one, which takes minutes of processor time. */
const CHART = fileURLToPath(new URL('../config/helm/tollgate', import.meta.url));
const HELM = 'helm.sh/helm/v3/cmd/helm@v3.18.6';
const REQUIRED = ['--set', 'existingSecret=tollgate', '--set', 'image.repository=ghcr.io/acme/tollgate'];
/** The longest that a stop takes after the delay (specification section 1, "Stop"). */
const STOP_S = 54;

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // The shapes are Kubernetes', and each test names what it reads.
  // biome-ignore lint/suspicious/noExplicitAny: they have no types here
  readonly spec: any;
  readonly data?: Readonly<Record<string, string>>;
}

const helm = installed();

function installed(): string {
  if (spawnSync('helm', ['version']).status === 0) return 'helm';
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-helm-'));
  execFileSync('go', ['install', HELM], { env: { ...process.env, GOBIN: folder }, stdio: 'inherit' });
  return join(folder, 'helm');
}

function render(...args: string[]): ReadonlyMap<string, Rendered> {
  const text = execFileSync(helm, ['template', 'tollgate', CHART, ...REQUIRED, ...args], {
    encoding: 'utf8',
  });
  const all = parseAllDocuments(text).map((document) => document.toJS() as Rendered | null);
  return new Map(all.flatMap((one) => (one ? [[one.kind, one] as const] : [])));
}

const containerOf = (all: ReadonlyMap<string, Rendered>) =>
  all.get('Deployment')?.spec.template.spec.containers[0];
const environmentOf = (all: ReadonlyMap<string, Rendered>): { name: string; value?: string }[] =>
  containerOf(all).env;

test('the linter finds nothing', async (t) => {
  const { status, stdout } = spawnSync(helm, ['lint', '--strict', CHART, ...REQUIRED], { encoding: 'utf8' });
  t.equal(status, 0, stdout);
});

test('the chart names what it lacks', async (t) => {
  const { status, stderr } = spawnSync(helm, ['template', 'tollgate', CHART], { encoding: 'utf8' });
  t.not(status, 0);
  t.match(stderr, /existingSecret: name the Secret with ADMIN_TOKEN, DATABASE_URL and REDIS_URL/);
});

test('a value that the chart does not know, or of another type, is refused', async (t) => {
  for (const wrong of [
    'replicaCount=5',
    'replicas=three',
    'drainDelaySeconds=1m',
    'env.PORT=9090',
    'ingress.host=',
  ]) {
    const args = ['template', 'tollgate', CHART, ...REQUIRED, '--set', wrong];
    t.not(spawnSync(helm, args).status, 0, wrong);
  }
});

test('files are mounted from volumes of the operator', async (t) => {
  const volumes = ['--set', 'extraVolumes[0].name=keys', '--set', 'extraVolumes[0].secret.secretName=keys'];
  const mounts = ['name=keys', 'mountPath=/run/secrets'].flatMap((one) => [
    '--set',
    `extraVolumeMounts[0].${one}`,
  ]);
  const all = render(...volumes, ...mounts);
  t.match(containerOf(all).volumeMounts.at(-1), { name: 'keys', mountPath: '/run/secrets' });
  const { spec } = all.get('Deployment')?.spec.template ?? {};
  t.match(spec.volumes.at(-1), { name: 'keys', secret: { secretName: 'keys' } });
});

test('by default, gateways without privileges read Redis and database from the Secret, and no ingress is made', async (t) => {
  const all = render();
  t.same([...all.keys()].sort(), ['ConfigMap', 'Deployment', 'PodDisruptionBudget', 'Service']);
  const { spec } = all.get('Deployment')?.spec.template ?? {};
  const container = containerOf(all);
  t.match(container.image, /^ghcr\.io\/acme\/tollgate:\d+\.\d+\.\d+$/);
  t.match(spec.securityContext, { runAsNonRoot: true, runAsUser: 1000 });
  t.match(container.securityContext, { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
  t.equal(container.readinessProbe.httpGet.path, '/readyz');
  t.equal(container.livenessProbe.httpGet.path, '/healthz');
  t.match(container.envFrom, [{ secretRef: { name: 'tollgate' } }]);
  for (const name of ['ADMIN_TOKEN', 'DATABASE_URL', 'REDIS_URL']) {
    t.match(
      environmentOf(all).find((one) => one.name === name),
      { valueFrom: { secretKeyRef: { name: 'tollgate', key: name } } },
      name,
    );
  }
  t.ok(container.resources.limits.memory);
});

test('a Pod may finish its calls', async (t) => {
  const all = render('--set', 'drainDelaySeconds=20');
  t.ok(all.get('Deployment')?.spec.template.spec.terminationGracePeriodSeconds >= STOP_S + 20);
  t.match(
    environmentOf(all).find(({ name }) => name === 'DRAIN_DELAY_MS'),
    { value: '20000' },
  );
});

test('the gateway starts with the rendered configuration and environment', async (t) => {
  const all = render('--set', 'redisUrl=redis://valkey:6379', '--set', 'env.TRUST_PROXY=10.0.0.0/8');
  const variables = environmentOf(all).flatMap(({ name, value }) =>
    value === undefined ? [] : [[name, value]],
  );
  const file = join(
    t.testdir({ 'gateway.yaml': all.get('ConfigMap')?.data?.['gateway.yaml'] ?? '' }),
    'gateway.yaml',
  );
  const config = loadConfig({ env: { ...Object.fromEntries(variables), OPENAI_API_KEY: 'a' }, file });
  t.equal(config.redisUrl, 'redis://valkey:6379');
  t.same(config.server.trustProxy, ['10.0.0.0/8']);
  t.same([...config.upstreams.keys()], ['openai']);
});

test('a configuration of the operator and a digest are taken, and restart the gateways', async (t) => {
  const folder = t.testdir({ 'own.yaml': 'upstreams: {}\nmodels: {}\n' });
  const all = render('--set-file', `config=${folder}/own.yaml`, '--set', 'image.digest=sha256:abc');
  t.same(parse(all.get('ConfigMap')?.data?.['gateway.yaml'] ?? ''), { upstreams: {}, models: {} });
  t.equal(containerOf(all).image, 'ghcr.io/acme/tollgate@sha256:abc');
  const sum = (one: ReadonlyMap<string, Rendered>) =>
    one.get('Deployment')?.spec.template.metadata.annotations['checksum/config'];
  t.not(sum(all), sum(render()));
});

test('an ingress leads to the Service, with its certificate', async (t) => {
  const all = render(
    '--set',
    'ingress.enabled=true',
    '--set',
    'ingress.tlsSecret=cert',
    '--set',
    'replicas=1',
  );
  const { rules, tls } = all.get('Ingress')?.spec ?? {};
  t.match(tls, [{ hosts: ['ai.example.com'], secretName: 'cert' }]);
  t.equal(rules[0].http.paths[0].backend.service.name, all.get('Service')?.metadata.name);
  t.notOk(all.has('PodDisruptionBudget'), 'one gateway could never be moved');
});
