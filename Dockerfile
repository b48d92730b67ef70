# One image for both programs; the charts choose with `command`.
# The exact version that package.json's node-linux packages bring to the tests. A tag can be moved: for a build that must be the same again, look up the
# digest of the image and pass it, with its @: docker build --build-arg NODE_DIGEST=@sha256:...
ARG NODE_VERSION=24.21.0
ARG NODE_DIGEST=""
FROM node:${NODE_VERSION}-slim${NODE_DIGEST}
WORKDIR /app
# A young generation of Node's default size costs a controller a hundred megabytes and saves no time (docs/benchmarks.md). Of the memory that a container
# may have, Node would leave half unused, and end where there is still room.
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/.compile-cache \
    NODE_OPTIONS="--max-semi-space-size=8 --max-old-space-size-percentage=75"
COPY package.json package-lock.json ./
# The image has Node 24 itself: the packages that carry a node binary are optional and left out.
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund
COPY shared ./shared
COPY worker ./worker
COPY manager ./manager
# Fills the compile cache, so that the programs start fast on a read-only root file system. The manager loads BullMQ only when it needs it.
RUN node manager/main.ts --help > /dev/null && node worker/main.ts --help > /dev/null \
    && node --input-type=module --eval "await import('/app/manager/submission/bullmq-queue.ts')"
USER 1000:1000
CMD ["node", "manager/main.ts"]
