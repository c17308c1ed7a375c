# Two stages: the first bundles, the second holds what runs and no source, test or package of development.
# Build: docker build -t task-mirror .        Try it: docker run --rm -v mirror:/data task-mirror demo --out /data/demo
# A tag can be moved to another image, a digest cannot: BASE is what both stages stand on, and a release gives its digest:
#   docker buildx imagetools inspect node:24-bookworm-slim --format '{{.Manifest.Digest}}'
#   docker build --build-arg BASE=node:24-bookworm-slim@sha256:... -t task-mirror .
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY build build
RUN npm ci
COPY src src
COPY tsconfig.json LICENSE ./
RUN npm run build && node build/stage.ts /app

FROM ${BASE}
LABEL org.opencontainers.image.title="task-mirror" \
  org.opencontainers.image.description="Copies every task of an account of the Task Query Service into a SQLite file and keeps it current" \
  org.opencontainers.image.licenses="MIT"
COPY --from=build /app /app
RUN ln -s /app/dist/cli.js /usr/local/bin/task-mirror \
  # Group 0 may write as well: platforms that choose a uid of their own put it into that group.
  && mkdir /data && chown 1000:0 /data && chmod 0770 /data
# Threads share two heaps of the C library: more of them take memory and save no time.
ENV NODE_ENV=production \
  MALLOC_ARENA_MAX=2 \
  TASK_MIRROR_MIRROR_PATH=/data/task-mirror.sqlite \
  TASK_MIRROR_EXPORT_DIR=/data/snapshots
WORKDIR /data
VOLUME /data
# A number, so that a cluster can see that it is not root.
USER 1000:0
# For the scheduler; a container that runs once has ended before it is asked.
HEALTHCHECK --interval=1m --timeout=10s --start-period=10m --retries=2 \
  CMD ["node", "/app/dist/cli.js", "status", "--max-age", "15m", "--quiet"]
ENTRYPOINT ["node", "/app/dist/cli.js"]
CMD ["sync"]
