# One image for both programs and the program switchyard; the charts choose with `command`. `npm run image` builds it with the engine that is there.
# The exact version that the packages of scripts/node bring to the tests. A tag can be moved: for a build that must be the same again, look up the
# digest of the image and pass it, with its @: docker build --build-arg NODE_DIGEST=@sha256:... (npm run image -- --node-digest sha256:...).
ARG NODE_VERSION=24.21.0
ARG NODE_DIGEST=""

# What browsers get of the dashboard is built with tools of development, of which nothing else goes along.
FROM node:${NODE_VERSION}-slim${NODE_DIGEST} AS page
WORKDIR /source
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node --disable-warning=ExperimentalWarning scripts/build-page.ts

FROM node:${NODE_VERSION}-slim${NODE_DIGEST} AS build
WORKDIR /source
COPY package.json package-lock.json ./
# What programs may do without is optional and left out: @kubernetes/client-node with all it brings is not even that (docs/architecture.md). No package runs a script of its own.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
COPY . .
COPY --from=page /source/manager/dashboard/dist manager/dashboard/dist
# Plain JavaScript: Node would erase the types whenever a program starts, which takes it half a second and 30 MiB (docs/decisions.md).
RUN node --disable-warning=ExperimentalWarning scripts/image/assemble.ts --into /app

FROM node:${NODE_VERSION}-slim${NODE_DIGEST}
# Version and revision come with the build (npm run image). There is no HEALTHCHECK: pods are asked at /healthz and /readyz, and the program switchyard serves nothing.
LABEL org.opencontainers.image.title="switchyard" org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.description="Manager, worker and command line of Switchyard, which runs Kubernetes Jobs over many clusters"
# Nothing is installed in a container that runs.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn* \
    && ln -s /app/manager/cli/main.js /usr/local/bin/switchyard
WORKDIR /app
# A young generation of Node's default size costs a controller a hundred megabytes and saves no time (docs/benchmarks.md). Of the memory that a container
# may have, Node would leave half unused, and end where there is still room.
ENV NODE_ENV=production NODE_OPTIONS="--max-semi-space-size=8 --max-old-space-size-percentage=75"
COPY --from=build /app /app
# Any user will do that is not root: all of /app may be read by everybody, and nothing in it is written.
USER 65532:65532
CMD ["node", "manager/main.js"]
