import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Check } from './check.ts';
import type { Measured } from './rounds.ts';

const LATEST = fileURLToPath(new URL('results/latest.json', import.meta.url));

export interface Column {
  /** Name in the JSON. */
  readonly key: string;
  readonly title: string;
  readonly digits: number;
}

export interface Row {
  readonly target: string;
  /** By key of the column; null or absent: not measured. */
  readonly values: Readonly<Record<string, number | null>>;
}

export interface ProfileReport {
  readonly profile: string;
  readonly about: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly checks: readonly Check[];
  readonly notes: readonly string[];
}

/** A skipped profile and the reason. */
export interface Skipped {
  readonly profile: string;
  readonly skipped: string;
}

const CALL_COLUMNS: readonly Column[] = [
  { key: 'callsPerSecond', title: 'calls/s', digits: 0 },
  { key: 'p50Ms', title: 'p50 ms', digits: 2 },
  { key: 'p99Ms', title: 'p99 ms', digits: 2 },
  { key: 'addedP50Ms', title: 'added p50', digits: 2 },
  { key: 'addedP99Ms', title: 'added p99', digits: 2 },
  { key: 'cpuMicros', title: 'CPU µs/call', digits: 0 },
  { key: 'ratio', title: 'CPU ratio', digits: 2 },
  { key: 'redisMicros', title: 'Redis µs/call', digits: 0 },
  { key: 'rssMb', title: 'RSS MB', digits: 0 },
];

/**
 * Columns and rows of measured calls. `base`: its CPU is 1. `direct`: its times are subtracted from the others, which
 * leaves the time that a proxy adds to a call. Without it, there are no columns of added times.
 */
export function callTable(
  measured: ReadonlyMap<string, Measured>,
  base: string,
  direct?: string,
): { columns: readonly Column[]; rows: Row[] } {
  const baseCpu = measured.get(base)?.cpuMicros;
  const alone = direct === undefined ? undefined : measured.get(direct);
  const less = (value: number | null, from: number | null | undefined) =>
    value === null || from === null || from === undefined ? null : value - from;
  const rows = [...measured].map(([target, sample]) => ({
    target,
    values: {
      ...sample,
      addedP50Ms: target === direct ? null : less(sample.aloneP50Ms, alone?.aloneP50Ms),
      addedP99Ms: target === direct ? null : less(sample.aloneP99Ms, alone?.aloneP99Ms),
      ratio: sample.cpuMicros === null || !baseCpu ? null : sample.cpuMicros / baseCpu,
    },
  }));
  const columns = CALL_COLUMNS.filter(({ key }) => {
    return rows.some(({ values }) => ((values as Row['values'])[key] ?? null) !== null);
  });
  return { columns, rows };
}

export function printable(report: ProfileReport | Skipped): string {
  if ('skipped' in report) return `\n${report.profile}: left out. ${report.skipped}\n`;
  const { profile, about, columns, rows, checks, notes } = report;
  const lines = [
    ['', ...columns.map(({ title }) => title)],
    ...rows.map(({ target, values }) => [target, ...columns.map((column) => cell(values, column))]),
  ];
  const widths =
    lines[0]?.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0))) ?? [];
  const pad = (text: string, index: number) =>
    index === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[index] ?? 0);
  return [
    '',
    `${profile}: ${about}`,
    ...lines.map((line) => `  ${line.map(pad).join('  ')}`),
    ...notes.map((note) => `  ${note}`),
    ...checks.map(({ name, holds, detail }) => `  ${holds ? 'holds' : 'BROKEN'}  ${name}: ${detail}`),
    '',
  ].join('\n');
}

function cell(values: Row['values'], { key, digits }: Column): string {
  const value = values[key] ?? null;
  return value === null ? '–' : value.toFixed(digits);
}

export interface Result {
  readonly at: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly profiles: readonly (ProfileReport | Skipped)[];
}

export function resultOf(
  profiles: Result['profiles'],
  { seconds, rounds }: { seconds: number; rounds: number },
): Result {
  const all = cpus();
  return {
    at: new Date().toISOString(),
    node: process.version,
    cpu: all[0]?.model ?? 'unknown',
    cores: all.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    seconds,
    rounds,
    profiles,
  };
}

/** Writes bench/results/latest.json and returns its path. */
export function store(result: Result): string {
  mkdirSync(dirname(LATEST), { recursive: true });
  writeFileSync(LATEST, `${JSON.stringify(result, null, 2)}\n`);
  return LATEST;
}
