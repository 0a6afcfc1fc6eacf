import { Type } from 'typebox';

export const Health = Type.Object({ status: Type.Literal('ok') }, { description: 'The process is up' });

const detail = Type.Optional(Type.String({ description: 'What is wrong' }));

export const ReadinessReport = Type.Object(
  {
    status: Type.String({ enum: ['ok', 'draining', 'unavailable'] }),
    redis: Type.Object({
      ok: Type.Boolean(),
      durable: Type.Boolean({ description: 'Append-only persistence, no eviction policy' }),
      detail,
    }),
    book: Type.Object({ ok: Type.Boolean(), detail }),
  },
  { description: 'Whether Redis and the book answer' },
);

export const Metrics = Type.String({ description: 'Prometheus text format' });
