/** Draws bench/chart.svg from the last result. `npm run bench` does so after a run of all profiles. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { init } from 'echarts';
import type { ProfileReport, Result } from './report.ts';

const FILE = fileURLToPath(new URL('chart.svg', import.meta.url));
const SIZE = { width: 760, height: 320 };
/** Comparisons with the plain proxy: the profile, its column, and the label of its bars. */
const COMPARED = [
  { profile: 'json', column: 'cpuMicros', label: 'JSON 1 KB\nCPU per call' },
  { profile: 'sse', column: 'cpuMicros', label: 'SSE 100 chunks\nCPU per stream' },
  { profile: 'streams', column: 'kbEach', label: '1,000 streams\nmemory each' },
  { profile: 'body', column: 'cpuMicros', label: 'JSON 1 MB\nCPU per call' },
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
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...SIZE });
  chart.setOption({
    animation: false,
    color: COLOURS,
    textStyle: { fontFamily: 'system-ui, sans-serif', color: TEXT },
    title: {
      text: 'Cost beside a plain Fastify proxy (= 1; less is better)',
      textStyle: { color: TEXT, fontSize: 14, fontWeight: 600 },
    },
    legend: { bottom: 0, textStyle: { color: TEXT } },
    grid: { top: 44, bottom: 76, left: 40, right: 12 },
    xAxis: {
      type: 'category',
      data: COMPARED.map(({ label }) => label),
      axisLabel: { color: TEXT, interval: 0 },
    },
    yAxis: {
      type: 'value',
      axisLabel: { color: TEXT },
      splitLine: { lineStyle: { color: TEXT, opacity: 0.25 } },
    },
    series: targets.map((target) => ({
      type: 'bar',
      name: target === 'tollgate' ? 'Tollgate, everything on' : target,
      data: COMPARED.map((_, index) => ratio(index, target)),
      label: { show: true, position: 'top', color: TEXT, fontSize: 10 },
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
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
