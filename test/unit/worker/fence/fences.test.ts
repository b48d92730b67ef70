import { describe, expect, test } from 'vitest';
import { createFences, type Fences } from '../../../../worker/fence/fences.ts';

const FENCE_AFTER_MS = 60_000;
const BERLIN = 'berlin';
const PARIS = 'paris';

/** A cluster as its worker sees it: managers renew their Leases there, and the worker its own every ten seconds. */
class Scene {
  fenceAfterMs = FENCE_AFTER_MS;
  fences: Fences;
  nowMs = 1_000_000;
  #resourceVersion = 100;
  #starts = 0;

  constructor() {
    this.fences = this.#start();
  }

  #start(): Fences {
    let tokens = 0;
    const start = ++this.#starts;
    return createFences(this.fenceAfterMs, () => `start ${start}, token ${++tokens}`);
  }

  /** A new worker, told by the one before it what was seen, after nobody has looked for so long. */
  restart(downSeconds: number, fenceAfterMs = this.fenceAfterMs): void {
    const downMs = downSeconds * 1000;
    this.fences.look(this.nowMs);
    const renewalsSeen = this.fences.renewalsSeen(this.nowMs);
    const announced = {
      controllerName: 'c',
      version: '1',
      fenceToken: this.fences.token(),
      fenceAfterSeconds: this.fenceAfterMs / 1000,
      fencedKinds: [],
    };
    this.nowMs += downMs;
    this.fenceAfterMs = fenceAfterMs;
    this.fences = this.#start();
    this.fences.remember({ ...announced, renewalsSeen }, downMs);
  }

  /** The worker renews its own Lease, so that managers know its token. */
  announce(): string {
    const token = this.fences.tell(this.nowMs);
    this.fences.mark(`${++this.#resourceVersion}`, this.nowMs);
    return token;
  }

  /** The manager renews: seen at once unless `seenAfterMs` says otherwise. */
  renew(origin: string, answer: string | undefined, parts: { uid?: string; renewedMs?: number; held?: boolean } = {}): void {
    const { uid = `uid of ${origin}`, renewedMs = this.nowMs, held = true } = parts;
    this.see(origin, answer, `${++this.#resourceVersion}`, { uid, renewedMs, held });
  }

  see(
    origin: string,
    reconciled: string | undefined,
    resourceVersion: string,
    { uid = `uid of ${origin}`, renewedMs = this.nowMs, held = true } = {},
  ): void {
    this.fences.leaseSeen(origin, { uid, resourceVersion, renewedMs, held, reconciled }, this.nowMs);
  }

  /** A manager that is in contact: every ten seconds a renewal that answers the token of that time. */
  inContact(seconds: number, ...origins: string[]): void {
    for (let passed = 0; passed < seconds; passed += 10) {
      const token = this.announce();
      for (const origin of origins) this.renew(origin, token);
      this.pass(10);
    }
  }

  /** Time in which no manager is heard of. The worker goes on with its own Lease. */
  alone(seconds: number): void {
    for (let passed = 0; passed < seconds; passed += 10) {
      this.announce();
      this.pass(10);
    }
  }

  pass(seconds: number): void {
    this.nowMs += seconds * 1000;
    for (const { origin } of this.fences.look(this.nowMs)) this.trips.push(origin);
  }

  readonly trips: string[] = [];
  state(origin: string): string {
    return this.fences.stateOf(origin, this.nowMs);
  }
}

describe('a manager in contact', () => {
  test('keeps its copies running', () => {
    const scene = new Scene();
    scene.inContact(600, BERLIN);
    expect(scene.state(BERLIN)).toBe('Open');
    expect(scene.trips).toEqual([]);
  });

  test('an origin without a Lease, of a manager that knows of no fences, is open', () => {
    expect(new Scene().state(BERLIN)).toBe('Open');
  });

  test('that has not put the cluster in order yet has its copies held, and stopped once that takes too long', () => {
    const scene = new Scene();
    scene.announce();
    scene.renew(BERLIN, undefined);
    expect(scene.state(BERLIN)).toBe('Hold');
    for (let passed = 10; passed < 60; passed += 10) {
      scene.pass(10);
      scene.renew(BERLIN, undefined);
      expect(scene.state(BERLIN)).toBe('Hold');
    }
    scene.pass(10);
    expect(scene.state(BERLIN)).toBe('Fenced');
    scene.inContact(10, BERLIN);
    expect(scene.state(BERLIN)).toBe('Open');
  });

  test('whose Lease appears long after the worker has started has time like any other', () => {
    const scene = new Scene();
    scene.alone(3_600);
    scene.renew(BERLIN, undefined);
    expect(scene.state(BERLIN)).toBe('Hold');
    scene.inContact(10, BERLIN);
    expect(scene.state(BERLIN)).toBe('Open');
  });
});

describe('a manager out of reach', () => {
  test('has its copies stopped after the time of the fence, and not before', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    scene.alone(40);
    expect(scene.state(BERLIN)).toBe('Open');
    scene.pass(9.999);
    expect(scene.state(BERLIN)).toBe('Open');
    // The last renewal was sent ten seconds before contact ended.
    scene.pass(0.001);
    expect(scene.state(BERLIN)).toBe('Fenced');
    expect(scene.trips).toEqual([BERLIN]);
  });

  test('whose renewals come back while the worker is not heard of (a partition in one way) stays fenced', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    const answered = scene.fences.token();
    scene.alone(60);
    for (let renewals = 0; renewals < 20; renewals++) {
      scene.pass(10);
      // It renews, and answers the token of before: it has not seen the new one.
      scene.renew(BERLIN, answered);
      expect(scene.state(BERLIN)).toBe('Fenced');
    }
    scene.inContact(10, BERLIN);
    expect(scene.state(BERLIN)).toBe('Open');
    expect(scene.trips).toEqual([BERLIN]);
  });

  test('whose old renewals come late, as through a watch that lagged, gains no time', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    const token = scene.fences.token();
    // Written now, and seen only after forty seconds in which the worker has renewed its own Lease.
    scene.announce();
    const late = { resourceVersion: '100000', renewedMs: scene.nowMs };
    const writtenAtMs = scene.nowMs;
    for (let renewals = 1; renewals <= 4; renewals++) {
      scene.pass(10);
      scene.fences.mark(`${100_000 + renewals}`, scene.nowMs);
    }
    scene.see(BERLIN, token, late.resourceVersion, late);
    expect(scene.state(BERLIN)).toBe('Open');
    scene.nowMs = writtenAtMs + FENCE_AFTER_MS - 1;
    expect(scene.state(BERLIN)).toBe('Open');
    scene.nowMs++;
    expect(scene.state(BERLIN)).toBe('Fenced');
  });

  test('a renewal that comes too late does not undo that, though nobody has looked in between', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    const token = scene.fences.token();
    scene.nowMs += 55_000;
    scene.announce();
    scene.renew(BERLIN, token);
    expect(scene.state(BERLIN)).toBe('Fenced');
  });

  test('while the worker itself was stopped (a paused machine) has its copies stopped at once, whatever is seen then', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    const token = scene.fences.token();
    scene.nowMs += 300_000;
    // What waited in the watch.
    scene.renew(BERLIN, token, { renewedMs: scene.nowMs - 295_000 });
    expect(scene.state(BERLIN)).toBe('Fenced');
    scene.pass(0);
    expect(scene.trips).toEqual([BERLIN]);
  });

  test('does not concern the copies of another, which go on though the token is a new one', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN, PARIS);
    const before = scene.fences.token();
    scene.inContact(60, PARIS);
    expect([scene.state(BERLIN), scene.state(PARIS)]).toEqual(['Fenced', 'Open']);
    expect(scene.fences.token()).not.toBe(before);
    // Paris has not answered the new token yet.
    scene.announce();
    scene.renew(PARIS, before);
    expect(scene.state(PARIS)).toBe('Open');
    scene.inContact(10, PARIS);
    expect([scene.state(BERLIN), scene.state(PARIS)]).toEqual(['Fenced', 'Open']);
  });

  test('that released its Lease is out of reach from its last renewal on', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    scene.announce();
    scene.renew(BERLIN, scene.fences.token(), { held: false });
    expect(scene.state(BERLIN)).toBe('Hold');
    scene.alone(60);
    expect(scene.state(BERLIN)).toBe('Fenced');
  });

  test('a step of the manager’s clock forward is a renewal like any other', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    scene.announce();
    scene.renew(BERLIN, scene.fences.token(), { renewedMs: scene.nowMs + 3_600_000 });
    expect(scene.state(BERLIN)).toBe('Open');
    scene.alone(60);
    expect(scene.state(BERLIN)).toBe('Fenced');
  });
});

describe('a Lease', () => {
  test('that somebody else touches is not renewed by that', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    const renewedMs = scene.nowMs - 10_000;
    const token = scene.fences.token();
    for (let touches = 0; touches < 5; touches++) {
      scene.announce();
      scene.renew(BERLIN, token, { renewedMs });
      scene.pass(10);
    }
    expect(scene.state(BERLIN)).toBe('Fenced');
  });

  test('that is deleted holds the copies, and they go on when the manager has made it anew', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    scene.fences.leaseGone(BERLIN);
    expect(scene.state(BERLIN)).toBe('Hold');
    scene.announce();
    // By a manager whose clock is behind that of the one before.
    scene.renew(BERLIN, scene.fences.token(), { uid: 'another', renewedMs: scene.nowMs - 30_000 });
    expect(scene.state(BERLIN)).toBe('Open');
    expect(scene.trips).toEqual([]);
  });

  test('that is deleted for good stops them in the end', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    scene.fences.leaseGone(BERLIN);
    scene.alone(60);
    expect(scene.state(BERLIN)).toBe('Fenced');
  });

  test.each([
    ['resourceVersion', { resourceVersion: '50', renewedMs: Number.MAX_SAFE_INTEGER }],
    ['renewTime', { resourceVersion: '100000', renewedMs: 1 }],
  ])('whose %s goes back trips at once: the cluster was restored', (_, { resourceVersion, renewedMs }) => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    const before = scene.fences.token();
    // With the very answer that was valid until now.
    scene.see(BERLIN, before, resourceVersion, { renewedMs });
    expect(scene.state(BERLIN)).toBe('Fenced');
    expect(scene.fences.look(scene.nowMs)).toEqual([{ origin: BERLIN, why: 'SteppedBack' }]);
    expect(scene.fences.token()).not.toBe(before);
    scene.see(BERLIN, scene.fences.token(), `${Number(resourceVersion) + 1}`, { renewedMs: renewedMs + 1 });
    scene.fences.mark(resourceVersion, scene.nowMs);
    scene.see(BERLIN, scene.fences.token(), `${Number(resourceVersion) + 2}`, { renewedMs: renewedMs + 2 });
    expect(scene.state(BERLIN)).toBe('Open');
  });
});

describe('a worker that is started again', () => {
  test('holds the copies until the manager has answered its new token', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    const before = scene.fences.token();
    scene.restart(3);
    scene.announce();
    scene.renew(BERLIN, before);
    expect(scene.state(BERLIN)).toBe('Hold');
    scene.inContact(10, BERLIN);
    expect(scene.state(BERLIN)).toBe('Open');
  });

  test('after the time of the fence has passed stops the copies at once', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    const [renewedMs, before] = [scene.nowMs - 10_000, scene.fences.token()];
    scene.alone(20);
    scene.restart(100);
    scene.renew(BERLIN, before, { renewedMs });
    expect(scene.state(BERLIN)).toBe('Fenced');
  });

  test('before that holds them for the rest of it', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    const [renewedMs, before] = [scene.nowMs - 10_000, scene.fences.token()];
    scene.alone(20);
    scene.restart(5);
    scene.renew(BERLIN, before, { renewedMs });
    scene.pass(24);
    expect(scene.state(BERLIN)).toBe('Hold');
    scene.pass(1);
    expect(scene.state(BERLIN)).toBe('Fenced');
  });

  test('again and again cannot keep them running', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    const [renewedMs, before] = [scene.nowMs - 10_000, scene.fences.token()];
    const states = [];
    for (let crash = 0; crash < 10; crash++) {
      scene.restart(5);
      scene.renew(BERLIN, before, { renewedMs });
      scene.pass(3);
      states.push(scene.state(BERLIN));
    }
    // Eight seconds each, ten before the first.
    expect(states).toEqual([...Array.from({ length: 6 }, () => 'Hold'), ...Array.from({ length: 4 }, () => 'Fenced')]);
  });

  test('that was down while the manager went on renewing has not lost it', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    const before = scene.fences.token();
    scene.restart(900);
    scene.renew(BERLIN, before);
    expect(scene.state(BERLIN)).toBe('Hold');
    scene.inContact(10, BERLIN);
    expect([scene.state(BERLIN), scene.trips]).toEqual(['Open', []]);
  });

  test('with its fence tripped a moment ago goes on with that, too', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    scene.see(BERLIN, scene.fences.token(), '50');
    scene.restart(1);
    scene.renew(BERLIN, undefined);
    expect(scene.state(BERLIN)).toBe('Fenced');
  });

  test('with its fence tripped goes on with that, though the manager renews', () => {
    const scene = new Scene();
    scene.inContact(100, BERLIN);
    const before = scene.fences.token();
    scene.alone(60);
    scene.restart(3);
    scene.renew(BERLIN, before);
    expect(scene.state(BERLIN)).toBe('Fenced');
    scene.inContact(10, BERLIN);
    expect(scene.state(BERLIN)).toBe('Open');
  });
});

test('an answer that is seen before the write that asked for it has returned counts from when that was sent', () => {
  const scene = new Scene();
  scene.inContact(100, BERLIN);
  const [renewedMs, before] = [scene.nowMs - 10_000, scene.fences.token()];
  scene.alone(30);
  scene.restart(10);
  scene.renew(BERLIN, before, { renewedMs });
  const token = scene.fences.tell(scene.nowMs);
  scene.renew(BERLIN, token);
  scene.pass(59);
  expect(scene.state(BERLIN)).toBe('Open');
  scene.pass(1);
  expect(scene.state(BERLIN)).toBe('Fenced');
});

test('where nobody was held to anything before, all have the whole time', () => {
  const scene = new Scene();
  scene.inContact(10, BERLIN);
  scene.alone(300);
  scene.fences.startAnew(scene.nowMs);
  expect(scene.state(BERLIN)).toBe('Hold');
  scene.pass(59);
  expect(scene.state(BERLIN)).toBe('Hold');
  scene.pass(1);
  expect(scene.state(BERLIN)).toBe('Fenced');
});

test('it says when to look again: when the first of the fences would trip', () => {
  const scene = new Scene();
  expect(scene.fences.nextLookMs()).toBeUndefined();
  scene.announce();
  scene.renew(BERLIN, scene.fences.token());
  const dueMs = scene.nowMs + FENCE_AFTER_MS;
  scene.pass(5);
  scene.announce();
  scene.renew(PARIS, scene.fences.token());
  expect(scene.fences.nextLookMs()).toBe(dueMs);
  scene.pass(55);
  expect(scene.fences.nextLookMs()).toBe(dueMs + 5_000);
  scene.pass(5);
  expect(scene.fences.nextLookMs()).toBeUndefined();
});

test('a server whose versions cannot be compared has its renewals counted from when they are seen', () => {
  const scene = new Scene();
  scene.fences.mark('x1', scene.nowMs);
  scene.see(BERLIN, scene.fences.token(), 'x2');
  expect(scene.state(BERLIN)).toBe('Open');
});
