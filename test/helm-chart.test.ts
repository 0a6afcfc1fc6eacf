import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { parse } from 'yaml';

/** The chart without Helm: helm-chart.slow.test.ts renders it. */
const CHART = fileURLToPath(new URL('../config/helm/tollgate', import.meta.url));
const read = (path: string) => readFileSync(join(CHART, path), 'utf8');
const templates = () =>
  readdirSync(join(CHART, 'templates')).map((name) => ({ name, text: read(`templates/${name}`) }));

test('the chart has the version of the package', async (t) => {
  const { version, appVersion } = parse(read('Chart.yaml')) as Record<string, string>;
  const manifest = JSON.parse(readFileSync(join(CHART, '../../../package.json'), 'utf8')) as {
    version: string;
  };
  t.same([version, appVersion], [manifest.version, manifest.version]);
});

test('every value that a template names exists, and every value is used', async (t) => {
  const values = parse(read('values.yaml')) as Record<string, unknown>;
  const used = new Set<string>();
  for (const { name, text } of templates()) {
    for (const [, path = ''] of text.matchAll(/\.Values\.([\w.]+)/g)) {
      const [first = '', ...rest] = path.split('.');
      used.add(first);
      let value: unknown = values;
      for (const part of [first, ...rest]) {
        t.ok(value !== null && typeof value === 'object' && part in value, `${name}: .Values.${path}`);
        value = (value as Record<string, unknown>)[part];
      }
    }
  }
  t.same([...used].sort(), Object.keys(values).sort());
});

test('the schema of the values names each of them', async (t) => {
  const { properties } = JSON.parse(read('values.schema.json')) as { properties: object };
  const { global: _global, ...own } = properties as { global: unknown };
  t.same(Object.keys(own).sort(), Object.keys(parse(read('values.yaml')) as object).sort());
});

test('every template that is included is defined', async (t) => {
  const all = templates().map(({ text }) => text);
  const defined = all.flatMap((text) => [...text.matchAll(/define "([^"]+)"/g)].map(([, name]) => name));
  const included = all.flatMap((text) => [...text.matchAll(/include "([^"]+)"/g)].map(([, name]) => name));
  t.ok(included.length > 10);
  for (const name of included) t.ok(defined.includes(name), String(name));
});
