import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { parse } from 'yaml';
import { loadConfig } from '../src/config/load.ts';

/** The deployment files must agree with the program on names, paths and times. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/**
 * The longest that a stop takes: calls in flight, settles and journal, alerts that are due, and the last traces
 * (specification section 1, "Stop").
 */
const STOP_S = 54;

/** The folder of the operator's own configuration, which they make from the file below (compose.yaml). */
const PRODUCTION_FOLDER = './conf';
const PRODUCTION_CONFIG = 'config/helm/tollgate/gateway.yaml';

interface Service {
  readonly image?: string;
  readonly command?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: object;
  readonly networks?: object;
  readonly secrets?: readonly string[];
  readonly configs?: readonly { readonly source: string }[];
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly logging?: { readonly options?: Readonly<Record<string, string>> };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly networks: object;
  readonly secrets: object;
  readonly configs: object;
}

const compose = () => parse(read('config/compose.yaml'), { merge: true }) as Compose;
const namesOf = (list: object | undefined) => (Array.isArray(list) ? list : Object.keys(list ?? {}));

/** The environment of a service as Compose makes it, each `${NAME…}` a stand-in. */
function environmentOf(service: Service | undefined): Record<string, string> {
  const entries = Object.entries(service?.environment ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      value.replaceAll(/\$\{(\w+)(:[-?][^}]*)?\}/g, (_, variable, rest) =>
        rest?.startsWith(':-') ? rest.slice(2) : `stand-in-for-${variable}`,
      ),
    ]),
  );
}

test('the image listens at its declared port and health address with any mounted config', async (t) => {
  const file = read('Dockerfile');
  const [, port] = /^ENV .*\bPORT=(\d+)/m.exec(file) ?? [];
  t.match(file, new RegExp(`^EXPOSE ${port}$`, 'm'));
  t.match(file, /HEALTHCHECK (?:.|\n)*127\.0\.0\.1:\$\{process\.env\.PORT\}\/healthz/);
});

test('everything that the Dockerfile copies is there, and reaches the builder', async (t) => {
  const ignored = read('.dockerignore').split('\n');
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  );
  t.ok(copied.length > 5, 'the steps are found');
  for (const path of copied) {
    t.ok(existsSync(join(ROOT, path)), path);
    t.ok(ignored.includes(`!${path.split('/', 1)[0]}`), `${path} is not ignored`);
  }
});

test('the image runs without privileges, and reports its health', async (t) => {
  const file = read('Dockerfile');
  t.match(file, /^USER (node|1000)/m);
  t.match(file, /^HEALTHCHECK /m);
});

test('the composed gateways start with their settings', async (t) => {
  const { services } = compose();
  for (const name of ['gateway-1', 'gateway-2']) {
    const env = environmentOf(services[name]);
    const config = loadConfig({ env, file: join(ROOT, PRODUCTION_CONFIG) });
    t.match(config.databaseUrl, /@postgres:5432\/tollgate$/);
    t.equal(config.redisUrl, 'redis://valkey:6379');
    t.equal(config.requireDurableRedis, true);
    t.ok(config.adminToken);
    t.same(
      config.server.trustProxy,
      ['172.30.80.10', '172.30.80.1'],
      'every hop, also the TLS proxy outside',
    );
  }
  t.match(
    services.proxy?.networks,
    { tollgate: { ipv4_address: '172.30.80.10' } },
    'the proxy that is trusted',
  );
  const known = [...read('docs/configuration.md').matchAll(/^- `([A-Z_]+)`/gm)].map(([, name]) => name);
  const referred = [...read('config/gateway.yaml').matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name]) => name);
  for (const name of Object.keys(services['gateway-1']?.environment ?? {})) {
    t.ok(known.includes(name) || referred.includes(name), name);
  }
});

test('the composed gateways may finish their calls, and write nothing but their data', async (t) => {
  const { services } = compose();
  for (const name of ['gateway-1', 'gateway-2']) {
    const service = services[name];
    const drainS = Number(service?.environment?.DRAIN_DELAY_MS) / 1_000;
    t.ok(Number.parseInt(service?.stop_grace_period ?? '', 10) >= STOP_S + drainS);
    t.equal(service?.read_only, true);
    t.ok(service?.volumes?.includes(`${name}:/data`), 'each has a folder of its own');
  }
});

// A mounted file stayed the old one after an editor had replaced it, and SIGHUP read that.
test('the composed gateways read a folder of the operator, which git does not track', async (t) => {
  const { services } = compose();
  for (const name of ['gateway-1', 'gateway-2']) {
    t.ok(services[name]?.volumes?.includes(`${PRODUCTION_FOLDER}:/app/config:ro`), name);
  }
  t.ok(read('.gitignore').split('\n').includes('/config/conf/'));
  t.ok(read('.dockerignore').split('\n').includes('config/conf'), 'its secrets reach no image');
  t.match(read('config/compose.yaml'), `cp ${PRODUCTION_CONFIG} config/conf/`);
});

test('the configuration for production has no demo models', async (t) => {
  const env = { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' };
  const { upstreams, catalog, warnings } = loadConfig({ env, file: join(ROOT, PRODUCTION_CONFIG) });
  t.same([...upstreams.keys()], ['openai', 'anthropic']);
  t.ok(catalog.size > 5);
  t.same(warnings, []);
});

test('the log of every composed service is bounded', async (t) => {
  for (const [name, { logging }] of Object.entries(compose().services)) {
    t.ok(logging?.options?.['max-size'] && logging.options['max-file'], name);
  }
});

test('the composed Redis persists and evicts nothing', async (t) => {
  t.match(compose().services.valkey?.command, /--appendonly yes.*--maxmemory-policy noeviction/);
});

test('every reference of a composed service is declared, and each file exists', async (t) => {
  const { services, volumes, networks, secrets, configs } = compose();
  for (const [name, service] of Object.entries(services)) {
    for (const other of namesOf(service.depends_on)) t.ok(services[other], `${name} needs ${other}`);
    for (const network of namesOf(service.networks)) t.ok(network in networks, network);
    for (const secret of service.secrets ?? []) t.ok(secret in secrets, secret);
    for (const { source } of service.configs ?? []) t.ok(source in configs, source);
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':');
      if (source === PRODUCTION_FOLDER) continue;
      t.ok(source.startsWith('.') ? existsSync(join(ROOT, 'config', source)) : source in volumes, volume);
    }
  }
});

test('images of others are named with their version', async (t) => {
  for (const [name, { image = '' }] of Object.entries(compose().services)) {
    if (!image.includes('TOLLGATE_IMAGE')) t.match(image, /:v?\d+\.?\d*/, name);
  }
});

test('Prometheus and HAProxy ask the gateways that are composed', async (t) => {
  const { services } = compose();
  const { scrape_configs: jobs, rule_files: rules } = parse(read('config/prometheus.yaml')) as {
    scrape_configs: { static_configs: { targets: string[] }[] }[];
    rule_files: string[];
  };
  const asked = jobs.flatMap((job) => job.static_configs.flatMap(({ targets }) => targets));
  const balanced = [...read('config/haproxy.cfg').matchAll(/^\s+server \S+ (\S+)$/gm)].map(([, at]) => at);
  const gateways = Object.keys(services).filter((name) => name.startsWith('gateway-'));
  t.same(
    asked,
    gateways.map((name) => `${name}:8080`),
  );
  t.same(balanced, asked);
  for (const file of rules) t.ok(existsSync(join(ROOT, 'config', file)));
});

test('nginx streams, takes every body, and waits as long as the gateway does', async (t) => {
  const file = read('config/nginx.conf');
  const value = (name: string) => new RegExp(`^ *${name} (.+);$`, 'm').exec(file)?.[1];
  const { server, limits } = loadConfig({ env: {}, file: join(ROOT, 'config/gateway.yaml') });
  t.same([value('proxy_buffering'), value('proxy_http_version')], ['off', '1.1']);
  t.equal(value('client_max_body_size'), `${server.bodyLimitBytes / 1024 / 1024}m`);
  t.ok(Number.parseInt(value('proxy_read_timeout') ?? '', 10) * 1_000 > limits.requestTimeoutMs);
  t.ok(Number.parseInt(value('keepalive_timeout') ?? '', 10) * 1_000 < server.keepAliveTimeoutMs);
});

test('the systemd unit starts the program, and stops it as it wants to be stopped', async (t) => {
  const unit = read('config/tollgate.service');
  const value = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(unit)?.[1] ?? '';
  // Debian's own Node is older than the gateway's.
  t.equal(value('ExecStart'), `${value('WorkingDirectory')}/node_modules/.bin/node dist/main.js`);
  t.ok(Number(value('TimeoutStopSec')) >= STOP_S);
  t.equal(value('KillMode'), 'mixed', 'the private Redis must outlive the drain');
  t.match(value('Environment'), `TOLLGATE_DATA=/var/lib/${value('StateDirectory')}`);
  t.notMatch(unit, /^MemoryDenyWriteExecute=/m, 'V8 compiles at run time');
});

test('every variable of the shipped config reaches the gateways of compose', async (t) => {
  const names = [...read('config/gateway.yaml').matchAll(/"\$\{(\w+)\}"/g)].map(([, name = '']) => name);
  t.ok(names.includes('VIDEOS_URL'));
  const { services } = compose();
  for (const service of ['gateway-1', 'gateway-2']) {
    const given = Object.keys(services[service]?.environment ?? {});
    t.same(
      names.filter((name) => !given.includes(name)),
      [],
      service,
    );
  }
});

test('compose publishes plain HTTP on this machine only', async (t) => {
  const ports = [...read('config/compose.yaml').matchAll(/ports: \["([^"]+)"\]/g)].map(([, port]) => port);
  t.ok(ports.length > 1);
  for (const port of ports) t.match(port, /^127\.0\.0\.1:/);
});
