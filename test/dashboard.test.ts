import { readFileSync } from 'node:fs';
import { type Test, test } from 'tap';
import { parse } from 'yaml';
import { ERRORS } from '../src/domain/errors.ts';
import { ADMIN_TOKEN, startOwnGateway } from './helper/start/gateway-in-process.ts';

/** Grafana may draw and Prometheus may watch only series that a gateway exposes. */
const read = (path: string) => readFileSync(new URL(`../config/${path}`, import.meta.url), 'utf8');

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}

const dashboard = () =>
  JSON.parse(read('grafana-dashboard.json')) as {
    schemaVersion: number;
    templating: { list: { name: string; type: string }[] };
    panels: Panel[];
  };

function rules(): { alert: string; expr: string; annotations: { summary: string } }[] {
  const file = parse(read('prometheus-rules.yaml')) as { groups: { rules: ReturnType<typeof rules> }[] };
  return file.groups.flatMap((group) => group.rules);
}

const panelTargets = () => dashboard().panels.flatMap(({ targets = [] }) => targets);

/** Names of metrics in an expression, including the parts of a histogram. */
function namesIn(expression: string): string[] {
  return [...expression.matchAll(/\b(?:tollgate|nodejs|process)_\w+/g)].map(([name]) => name);
}

/** The names of all series that a gateway exposes after one call. */
async function shownNames(t: Test): Promise<Set<string>> {
  const world = await startOwnGateway(t);
  const { key } = await world.account();
  await (await world.chat(key)).text();
  await world.settled();
  const page = await (await world.api('GET', '/metrics', ADMIN_TOKEN)).text();
  return new Set([...page.matchAll(/^([a-z]\w*)[{ ]/gm)].map(([, name = '']) => name));
}

test('every metric of the dashboard and the alert rules is one that a gateway shows', async (t) => {
  const shown = await shownNames(t);
  const expressions = [...panelTargets(), ...rules()].map(({ expr }) => expr);
  const named = new Set(expressions.flatMap(namesIn));
  t.ok(named.size > 15, 'the names are found');
  for (const name of named) t.ok(shown.has(name), name);
});

test('every metric of the gateway’s own is on the dashboard', async (t) => {
  const drawn = new Set(panelTargets().flatMap(({ expr }) => namesIn(expr)));
  // The version is for your own tables and annotations; here it counts the gateways.
  for (const name of await shownNames(t)) {
    if (!name.startsWith('tollgate_') || /_(sum|count)$/.test(name)) continue;
    t.ok(drawn.has(name), name);
  }
});

test('codes that rules and dashboard name are codes that calls end with', async (t) => {
  const outcomes = [
    'ok',
    'client_left',
    'upstream_broke',
    'upstream_error',
    'upstream_unreachable',
    'timeout',
  ];
  const expressions = [...panelTargets(), ...rules()].map(({ expr }) => expr);
  const codes = expressions.flatMap((expr) =>
    [...expr.matchAll(/code=~?"([^"]+)"/g)].flatMap(([, list = '']) => list.split('|')),
  );
  t.ok(codes.length > 5, 'the codes are found');
  for (const code of new Set(codes)) t.ok(code in ERRORS || outcomes.includes(code), code);
});

test('a refused credential is an alert from the first call on, also if another target takes the calls', async (t) => {
  const rule = rules().find(({ alert }) => alert === 'TollgateCredentialRefused');
  t.match(rule?.expr, 'tollgate_target_out{cause="credential"}');
});

test('panels use the chosen data source, and have different ids', async (t) => {
  const { panels, templating, schemaVersion } = dashboard();
  t.ok(schemaVersion >= 41);
  t.match(templating.list, [{ name: 'datasource', type: 'datasource' }]);
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { datasource } of panelTargets()) t.match(datasource.uid, /^\$\{datasource\}$/);
});

test('every alert rule has a section in the operating page', async (t) => {
  const page = read('../docs/operating.md');
  for (const { alert, annotations } of rules()) {
    t.match(page, `\`${alert}\``, alert);
    t.ok(annotations.summary);
  }
});
