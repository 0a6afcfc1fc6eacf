/** Draws bench/chart.svg from the last result. `npm run bench` does so after a run of all profiles. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ProfileReport, Result } from './report.ts';

const FILE = fileURLToPath(new URL('chart.svg', import.meta.url));
const SIZE = { width: 760, height: 320 };
/** Edges of the bars' area within the chart. */
const AREA = { top: 44, bottom: 244, left: 40, right: 748 };
/** Comparisons with the plain proxy: the profile, its column, and the label of its bars. */
const COMPARED = [
  { profile: 'json', column: 'cpuMicros', label: ['JSON 1 KB', 'CPU per call'] },
  { profile: 'sse', column: 'cpuMicros', label: ['SSE 100 chunks', 'CPU per stream'] },
  { profile: 'streams', column: 'kbEach', label: ['1,000 streams', 'memory each'] },
  { profile: 'body', column: 'cpuMicros', label: ['JSON 1 MB', 'CPU per call'] },
] as const;
const BASELINE = 'fastify + http-proxy';
/** Readable on light and dark pages. */
const TEXT = '#7d8590';
const COLOURS = ['#8b949e', '#2f81f7', '#3fb950', '#a371f7', '#d29922'];

/** Returns the chart as SVG; undefined if the result lacks one of its profiles. */
function chartOf(result: Result): string | undefined {
  const reports = COMPARED.map(({ profile }) => result.profiles.find((report) => report.profile === profile));
  if (!reports.every((report): report is ProfileReport => report !== undefined && 'rows' in report)) {
    return undefined;
  }
  const ratio = (index: number, target: string): number | null => {
    const column = COMPARED[index]?.column ?? '';
    const figureOf = (name: string) =>
      reports[index]?.rows.find((row) => row.target === name)?.values[column];
    const [value, base] = [figureOf(target), figureOf(BASELINE)];
    return value && base ? Math.round((value / base) * 100) / 100 : null;
  };
  const measured = (target: string) => COMPARED.some((_, index) => ratio(index, target) !== null);
  const targets = [...new Set(reports.flatMap(({ rows }) => rows.map(({ target }) => target)))].filter(
    measured,
  );
  const bars = targets.map((target, index) => ({
    name: target === 'tollgate' ? 'Tollgate, everything on' : target,
    color: COLOURS[index % COLOURS.length] ?? TEXT,
    values: COMPARED.map((_, at) => ratio(at, target)),
  }));
  return svgOf(bars);
}

interface Bars {
  readonly name: string;
  readonly color: string;
  /** One of each comparison; null: not measured. */
  readonly values: readonly (number | null)[];
}

function svgOf(bars: readonly Bars[]): string {
  const most = Math.max(1, ...bars.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const step = most > 20 ? 10 : most > 8 ? 4 : most > 4 ? 2 : 1;
  const top = Math.ceil(most / step) * step;
  const y = (value: number) => AREA.bottom - (value / top) * (AREA.bottom - AREA.top);
  const group = (AREA.right - AREA.left) / COMPARED.length;
  const width = (group * 0.8) / bars.length;
  const lines = Array.from({ length: top / step + 1 }, (_, index) => index * step).map(
    (value) =>
      `<line x1="${AREA.left}" x2="${AREA.right}" y1="${y(value)}" y2="${y(value)}" stroke="${TEXT}" opacity="0.25"/>` +
      text(AREA.left - 6, y(value) + 4, String(value), 'end', 12),
  );
  const groups = COMPARED.map(({ label }, at) => {
    const left = AREA.left + at * group + group * 0.1;
    const drawn = bars.map(({ color, values }, index) => {
      const value = values[at];
      if (value === null || value === undefined) return '';
      const x = left + index * width;
      const rect = `<rect x="${x + 1}" y="${y(value)}" width="${width - 2}" height="${AREA.bottom - y(value)}" fill="${color}"/>`;
      return rect + text(x + width / 2, y(value) - 4, String(value), 'middle', 10);
    });
    const words = label.map((line, index) =>
      text(left + group * 0.4, AREA.bottom + 18 + index * 15, line, 'middle', 12),
    );
    return [...drawn, ...words].join('');
  });
  const place = (SIZE.width - AREA.left) / bars.length;
  const legend = bars.map(({ name, color }, index) => {
    const x = AREA.left + index * place;
    return `<rect x="${x}" y="298" width="12" height="12" fill="${color}"/>${text(x + 18, 308, name, 'start', 12)}`;
  });
  const title = text(0, 18, 'Cost beside a plain Fastify proxy (= 1; less is better)', 'start', 14, 600);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" font-family="system-ui, sans-serif">` +
    `${[title, ...lines, ...groups, ...legend].join('\n')}</svg>`
  );
}

function text(x: number, y: number, words: string, anchor: string, size: number, weight = 400): string {
  const safe = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" font-size="${size}" font-weight="${weight}" fill="${TEXT}">${safe}</text>`;
}

/** Returns the path of the chart; undefined if a profile is missing, so the last chart stays. */
export function drawChart(result: Result): string | undefined {
  const svg = chartOf(result);
  if (svg === undefined) return undefined;
  writeFileSync(FILE, `${svg}\n`);
  return FILE;
}

if (import.meta.main) {
  const latest = fileURLToPath(new URL('results/latest.json', import.meta.url));
  if (drawChart(JSON.parse(readFileSync(latest, 'utf8'))) === undefined) process.exitCode = 1;
}
