/**
 * The program of the sidecar of a pod fence: a text for any Node.js (`node -e`), so that a copy brings its own, whatever the version of the
 * configured image. Arguments: the file with the renewals of the pod, a directory that outlives restarts of the container, address, port,
 * and seconds.
 *
 * The program answers 200 while it has seen another renewal within that many seconds, and 503 otherwise: the liveness probes of the pod's
 * containers ask it. Times are seconds since the boot of the node (`os.uptime`): that clock is never set, continues while the machine
 * sleeps, and is compared with no other clock. A renewal counts from when it is seen, and a late one may be old. So the first must name
 * this very start of the sidecar and arrive within the time of that start; after it, any other text is a renewal. A missed renewal is
 * final, also over restarts of the container, so that containers that are to end do end.
 *
 * `gate/open` in the directory is mounted into each container, as subPath. The kubelet resolves the path after it has pulled the image,
 * when it is about to create the container; a file in place of `gate` makes it fail. A container whose image is pulled for too long thus
 * never starts.
 */
export const POD_FENCE_PROGRAM = `
const fs = require('node:fs'), os = require('node:os'), path = require('node:path');
const { argv } = process, every = require('node:timers').setInterval;
const [file, directory, address, port, seconds] = argv.slice(1);
const [gate, memory] = ['gate', 'seen.json'].map((name) => path.join(directory, name));
const read = (name) => { try { return fs.readFileSync(name, 'utf8').trim(); } catch { return ''; } };
const boot = read('/proc/sys/kernel/random/boot_id');
const before = JSON.parse(read(memory) || '{}');
const goesOn = before.begun === true && before.boot === boot;
const start = (before.start ?? -1) + 1;
const seen = goesOn ? { ...before, start } : { boot, start, begun: false, over: false, text: read(file), at: os.uptime() };
const keep = (news) => {
  Object.assign(seen, news);
  fs.writeFileSync(memory + '.next', JSON.stringify(seen));
  fs.renameSync(memory + '.next', memory);
};
const setGate = (open) => {
  fs.rmSync(gate, { recursive: true, force: true });
  if (open) fs.mkdirSync(path.join(gate, 'open'), { recursive: true });
  else fs.writeFileSync(gate, '');
};
const look = () => {
  if (!seen.over && os.uptime() - seen.at > Number(seconds)) {
    if (!seen.begun) process.exit(1);
    setGate(false);
    keep({ over: true });
  }
  const text = read(file);
  if (seen.over || text === '' || text === seen.text) return;
  if (!seen.begun && !text.startsWith(start + '/')) return;
  const opens = !seen.begun;
  keep({ begun: true, text, at: os.uptime() });
  if (opens) setGate(true);
};
if (!goesOn || seen.over) setGate(false);
keep({});
process.on('SIGTERM', () => { look(); process.exit(seen.over ? 75 : 0); });
require('node:http').createServer((request, response) => {
  look();
  response.writeHead(seen.begun && !seen.over ? 200 : 503).end();
}).listen(Number(port), address);
every(look, 1000);
`.trim();
