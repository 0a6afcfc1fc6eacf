import cluster from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';

interface MetricsRequest {
  readonly askMetrics: number;
}

interface MetricsReply {
  readonly metricsFor: number;
  /** The metrics of all workers; undefined if not all of them answered. */
  readonly text?: string;
}

/**
 * Metrics of several workers on one port. The worker that is scraped has the supervisor ask all workers, and answers
 * with the sums of their values, or another figure by a metric's `aggregator`.
 */
export function summedMetrics(registry: Registry): Pick<Registry, 'metrics' | 'contentType'> {
  if (!cluster.isWorker) return registry;
  AggregatorRegistry.setRegistries([registry]);
  // Constructed for its side effect: from now on it answers the supervisor's requests for this worker's metrics.
  new AggregatorRegistry();
  let asked = 0;
  const waiting = new Map<number, (text: string | undefined) => void>();
  process.on('message', ({ metricsFor, text }: Partial<MetricsReply>) => {
    if (metricsFor === undefined) return;
    waiting.get(metricsFor)?.(text);
    waiting.delete(metricsFor);
  });
  return {
    contentType: registry.contentType,
    async metrics() {
      const id = ++asked;
      const text = await new Promise<string | undefined>((resolve) => {
        waiting.set(id, resolve);
        process.send?.({ askMetrics: id } satisfies MetricsRequest);
      });
      // If a worker does not answer, because it is being replaced, this worker's own metrics are better than none.
      return text ?? (await registry.metrics());
    },
  };
}

/** Answers requests of workers in the supervisor: collects the metrics of all workers for the one that asks. */
export function answerMetrics(): void {
  const registry = new AggregatorRegistry();
  cluster.on('message', (worker, { askMetrics }: Partial<MetricsRequest>) => {
    if (askMetrics === undefined) return;
    const answer = (text?: string) => {
      if (worker.isConnected()) worker.send({ metricsFor: askMetrics, ...(text ? { text } : {}) });
    };
    registry.clusterMetrics().then(answer, () => answer());
  });
}
