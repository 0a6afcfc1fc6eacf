import { Type } from './docs/json-type.ts';

export const Health = Type.Object(
  {
    status: Type.Literal('ok', { description: 'The only value there is.' }),
    version: Type.String({ description: 'Version of Tollgate that runs.' }),
  },
  { title: 'Health', description: 'The process is up.' },
);

const detail = Type.Optional(Type.String({ description: 'What is wrong.' }));
const ok = Type.Boolean({ description: 'Whether it answers.' });

export const ReadinessReport = Type.Object(
  {
    status: Type.Enum(['ok', 'draining', 'unavailable'], {
      description: '`draining`: the gateway is stopping. `unavailable`: Redis or the book does not answer.',
    }),
    redis: Type.Object({
      ok,
      durable: Type.Boolean({ description: 'Append-only persistence, and no eviction policy.' }),
      detail,
    }),
    book: Type.Object({ ok, detail }),
  },
  { title: 'Readiness', description: 'Whether Redis and the book answer.' },
);

export const READY_EXAMPLE = { status: 'ok', redis: { ok: true, durable: true }, book: { ok: true } };

export const Metrics = Type.String({ description: 'Prometheus text format.' });

export const UNREADY_EXAMPLE = {
  status: 'unavailable',
  redis: { ok: false, durable: false, detail: 'Redis does not answer.' },
  book: { ok: true },
};

export const METRICS_EXAMPLES = {
  metrics: {
    value:
      '# TYPE tollgate_requests_total counter\ntollgate_requests_total{endpoint="/v1/embeddings",code="ok"} 3\n',
  },
};
