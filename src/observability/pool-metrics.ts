import { Counter, Gauge, type Registry } from 'prom-client';
import type { PoolUse } from '../shares/fair-pool.ts';
import type { Pools } from '../shares/pools.ts';

/** Registers the metrics of what accounts share (shares/pools.ts), by the name of the pool; read at each scrape. */
export function registerPools(registry: Registry, pools: Pools): void {
  const uses = () => Object.entries(pools).map(([pool, { use }]) => ({ pool, use }));
  const gauge = (name: string, help: string, read: (use: PoolUse) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      aggregator: 'sum',
      registers: [registry],
      collect() {
        for (const { pool, use } of uses()) this.set({ pool }, read(use));
      },
    });
  gauge('tollgate_pool_places', 'Places that are taken in a pool that accounts share', (use) => use.places);
  gauge('tollgate_pool_bytes', 'Bytes that they take', (use) => use.bytes);
  gauge('tollgate_pool_waiting', 'Requests that wait for their turn in a pool', (use) => use.waiting);
  new Counter({
    name: 'tollgate_pool_refused_total',
    help: 'Requests that found no room in a pool, or in the share of their account',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { pool, use } of uses()) this.inc({ pool }, use.refused);
    },
  });
}
