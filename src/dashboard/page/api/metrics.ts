import { askRaw } from './request.ts';

/** The gateway's metrics. A value is NaN where its source does not answer. */
export interface Metrics {
  /** The value of a metric without labels. */
  value(name: string): number;
  /** Sum of the values of a metric whose labels are these, whatever others they have. */
  sum(name: string, labels: Readonly<Record<string, string>>): number;
  /** A label of the first value of a metric. */
  label(name: string, label: string): string | undefined;
  /** A label of every value of a metric. */
  labels(name: string, label: string): readonly string[];
}

/** Reads `GET /metrics`, which has Prometheus' text format: `name{label="value"} 1`. */
export async function readMetrics(signal: AbortSignal): Promise<Metrics> {
  const text = await (await askRaw('GET', '/metrics', { signal })).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const of = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  const numberIn = (line: string) => Number(line.slice(line.lastIndexOf(' ') + 1));
  const sum: Metrics['sum'] = (name, labels) =>
    of(name)
      .filter((line) =>
        Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)),
      )
      .reduce((total, line) => total + numberIn(line), 0);
  const labels: Metrics['labels'] = (name, label) =>
    of(name).flatMap((line) => new RegExp(`${label}="([^"]*)"`).exec(line)?.[1] ?? []);
  return { value: (name) => sum(name, {}), sum, label: (name, label) => labels(name, label)[0], labels };
}
