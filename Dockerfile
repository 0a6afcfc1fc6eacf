# The gateway as `node dist/main.js` runs it. Settings come from the environment and from /app/config/gateway.yaml, which
# you will want to mount over. Without REDIS_URL and DATABASE_URL everything is kept in /data, with them large bodies
# while their calls last: give it a volume. Nothing is written anywhere else, so that it runs with --read-only. A stop may
# take 43 seconds while calls in flight finish:
#
#   docker run --read-only --cap-drop ALL --stop-timeout 60 -v tollgate:/data -p 8080:8080 -e ADMIN_TOKEN=… tollgate

# The index of all architectures. By digest, because a tag can be moved: a new digest comes with a commit.
ARG NODE=node:26.11.1-trixie-slim@sha256:193fe51b64e77981119c98c2002c9e32a70e2f006fb4d25068ce0558998917f0

# Neither stage has anything of one architecture, so that none is emulated.
FROM --platform=$BUILDPLATFORM ${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Without install scripts: the only one checks what npm has installed.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY src ./src
RUN node src/bootstrap.mjs build

FROM --platform=$BUILDPLATFORM ${NODE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Optional is the Node that this image has already. What only compilers and debuggers read is a sixth of the packages.
RUN npm ci --ignore-scripts --omit=dev --omit=optional --no-audit --no-fund \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM ${NODE}
# The private Redis, for where REDIS_URL is not set.
RUN apt-get update \
  && apt-get install -y --no-install-recommends valkey-server \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o node -g node -m 700 /data
WORKDIR /app
COPY package.json LICENSE ./
COPY bin ./bin
RUN ln -s /app/bin/tollgate.mjs /usr/local/bin/tollgate
COPY config/gateway.yaml config/gateway.schema.json ./config/
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# Fewer arenas: glibc would keep 80 MB more of what was freed after a crowd of connections.
ENV MALLOC_ARENA_MAX=2
# PORT too, which wins over the config file's: EXPOSE and HEALTHCHECK hold whatever is mounted.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 TOLLGATE_DATA=/data
# The user node, by number: an orchestrator that wants proof of a user other than root reads no names.
USER 1000:1000
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
