/*
 * The protocol by which at most one copy of a Job runs: record, copy, Leases, token, fence, pods and restores, for one Job, worker clusters, and a manager
 * that may be two (a change of leader). test/model/README.md says what each transition stands for, and which function carries it out; its names are those
 * in the quotes of `step`. Every transition is one atomic step of one participant; what Spin explores is their order, and which faults strike.
 *
 * Time passes in ticks, and no clock is compared with another. What must happen within some time keeps the tick waiting (`IN_TIME`).
 * Faults strike where they like, FAULTS of them, each kind as often as its number below. A defect is put back with -D and its name.
 */
#ifdef TRACE
#define PLACEMENTS 3
#else
#define PLACEMENTS 2
#endif                   /* how often the Job may be recorded on a cluster that it was not on before */

/* Times, in ticks. */
#define LATE 1                                  /* a request that was given up is carried out no later than this */
#define FENCE 2                                 /* --fence-after */
#define GRACE 1                                 /* terminationGracePeriodSeconds */
#define GIVE_UP (LATE + FENCE + GRACE + 1)      /* --worker-lost-timeout: what docs/fencing.md asks for */
#define EXCUSE 4                                /* a cluster that was put back shows what it had then: until it is noticed, and stopped */

#define NOBODY 3

/* What the Job says of its present placement (the condition Dispatched). */
#define NOTHING 0
#define DISPATCHED 1
#define COPY_LOST 2
#define AT_REST 3      /* proofs: from here on it may be recorded elsewhere */
#define FENCED_OFF 4
#define REFUSED 5
#define PROVEN (told >= AT_REST)

/* Contact with a cluster. */
#define CONNECTING 0
#define READY 1
#define LOST 2

/* What the leader has sent to a cluster. */
#define NEVER 0
#define UNDER_WAY 1
#define UNANSWERED 2
#define ANSWERED 3

/* Writes that make a copy, or set one going. */
#define NONE 0
#define CREATE 1
#define RESUME 2
#define RENEW 3        /* of a leader that stands still */
#define SUSPEND 3      /* on its way */

/* Pods: none, running, told to end, told to end a tick ago. */
#define RUNNING 1
#define ENDING 2

/* Fence of a worker. */
#define OPEN 0
#define HOLD 1
#define FENCED 2

typedef Cluster {
  /* The copy, as the API server has it. */
  bool there; bool marked; bool suspended; bool says_suspended; bool resumed_since; bool deleting; bool ended; bool failed;
  unsigned epoch : 2;
  unsigned pods : 2;              /* of that copy */
  unsigned left : 2;              /* of a copy that is gone */
  bool refuses;           /* no Job can be made there */
  bool tried;             /* and it has said so in this tick */
  /* Leases and the worker. */
  bool answered;          /* the manager's Lease answers the worker's present token */
  unsigned fence : 2;
  unsigned quiet : 2;             /* ticks since a renewal has counted */
  bool unfenced;          /* --fence-after 0 among its flags now */
  bool binds_not;         /* no fence binds, by what was announced before */
  bool dead;
  unsigned excused : 3;
  bool unnoticed;         /* it was put back, and nobody has noticed */
  /* The network between manager and cluster. */
  bool cut;
  unsigned write : 2; unsigned write_epoch : 2; unsigned write_age : 2;
  bool write_counts;      /* a refusal of it proves that nothing is there */
  bool renewal; bool renewal_answers; unsigned renewal_age : 2;
  /* What the leader knows. */
  unsigned contact : 2;
  unsigned silent : 3;            /* ticks since a renewal was sent last */
  unsigned sent : 2; unsigned sent_age : 2;
  bool absent; bool unlisted; bool refused;
  bool seen;              /* since the manager cluster was put back */
  bool shows_unfenced;    /* status.worker.fenceAfterSeconds of the WorkerCluster is 0 */
  bool shows_dead;        /* its condition WorkerAlive is False */
};
Cluster at[2];

/* The Job on the manager cluster: its record, what it is to do, what it says. */
unsigned epoch : 2 = 0; unsigned place : 2 = 0; unsigned told : 3 = NOTHING;
bool suspended = true; bool done = false;

/* The leader. */
bool leads = true; bool recorded_since = true; unsigned led : 2 = 0;
bool home_restored = false; bool home_was_restored = false;
/* What a leader that stands still has decided to write. */
unsigned frozen : 2 = NONE; unsigned frozen_epoch : 2 = 0; unsigned frozen_age : 2 = 0;

/* Backups. */
bool kept_there = false; unsigned kept_on : 2 = NOBODY; unsigned kept_epoch : 2 = 0; bool kept_suspended = false; bool kept_ran = false;
bool home_kept = false; unsigned kept_home_epoch : 2 = 0; unsigned kept_home_place : 1 = 0; unsigned kept_home_told : 3 = 0; bool kept_home_suspended = false;

/* How much strikes: `setting` reads it from the environment (test/model/suite.ts). */
unsigned faults : 2;         /* of all kinds together */
unsigned stops : 2;          /* the Job is held, preempted or drained */
unsigned cuts : 2;           /* manager and cluster are cut off from one another */
unsigned leaders : 2;        /* the leader dies, or stands still with a write that it has decided */
unsigned edits : 2;          /* somebody takes the marks off a copy */
unsigned removals : 2;       /* somebody deletes a copy, with or without its pods */
unsigned restarts : 2;       /* a worker is started again, with another fence perhaps */
unsigned refusals : 2;       /* a cluster takes no copies any more */
unsigned deaths : 2;         /* a worker is gone for good */
unsigned restores : 2;       /* a worker cluster is put back to a backup */
unsigned home_restores : 2;  /* the manager cluster is put back to a backup */
unsigned repoints : 2;       /* the kubeconfig of cluster 0 leads to cluster 1 */

/* Faults have stopped: everybody does what there is to do before time passes, and the Job ends before CALM_TICKS have. */
bool calm = false;
unsigned calm_ticks : 4 = 0;
#define CALM_TICKS 15

/* The defect that is put back; 0: none. How the story is told: faults stop, but for the cut of cluster 0. */
unsigned put_back : 5 = 0; bool ends_calm = false; bool cut_for_good = false;
c_decl {
  static int setting(const char *name) { const char *text = getenv(name); return text ? atoi(text) : 0; }
}
bool repointed = false;
/* Steps that add states, and no way to break a promise that is known: pods that end one by one, statuses that lag, copies made suspended, late suspensions. */
bool in_detail = false;

/* A step, by its name in test/model/README.md, which Spin prints of a trail. */
#define step(name, c) printf(name); printf(" on cluster %d\n", c)

/*
 * With -DTRACE the verifier replays what stores have shown of one Job (test/model/replay.ts): nobody goes on from a state in which what they show is not
 * what the trace has next. What they do not show, and which faults strike, is for the verifier to find: so many of each kind between two of the trace's states.
 * That the trace is one of the model is a violation of the assertion below.
 */
#ifdef TRACE
c_decl {
  #define SHOWN_LENGTH 17
  #define SEEN_LENGTH 26
  #define TRACE_MAX 400
  static int seen[TRACE_MAX][SEEN_LENGTH], seen_count;
  static void read_trace(void) {
    FILE *file = fopen(getenv("TRACE"), "r");
    int value, read = 0;
    while (file && fscanf(file, "%d", &value) == 1 && read < TRACE_MAX * SEEN_LENGTH) { seen[read / SEEN_LENGTH][read % SEEN_LENGTH] = value; read++; }
    seen_count = read / SEEN_LENGTH;
  }
  static int shows(int position, const int *shown) {
    int at;
    for (at = 0; at < SHOWN_LENGTH; at++) if (seen[position][at] != shown[at]) return 0;
    return 1;
  }
  static int furthest;
  static void show(int position, unsigned char *next) {
    int at;
    if (position > furthest) printf("position %d\n", furthest = position);
    for (at = 0; at < SEEN_LENGTH; at++) next[at] = seen[position][at];
  }
  \#define ON(c) now.at[c].there, now.at[c].epoch, now.at[c].suspended, now.at[c].says_suspended, now.at[c].ended, (now.at[c].pods > 0 || now.at[c].left > 0)
  \#define SHOWN(which) shows(which, (const int[]) { now.epoch, now.place, now.told, now.suspended, now.done, ON(0), ON(1) })
  \#define GOES_ON ((now.position < seen_count - 1) ? SHOWN(now.position + 1) : 0)
  \#define AT_END (now.position == seen_count - 1)
}
short position = 0;
byte next[SEEN_LENGTH];     /* where the trace is: those who go on look at it */
#define IS_SHOWN(c, from) (next[from] == at[c].there && next[from + 1] == at[c].epoch && next[from + 2] == at[c].suspended && \
  next[from + 3] == at[c].says_suspended && next[from + 4] == at[c].ended && next[from + 5] == (at[c].pods > 0 || at[c].left > 0))
#define SHOWS_TRACE (next[0] == epoch && next[1] == place && next[2] == told && next[3] == suspended && next[4] == done && IS_SHOWN(0, 5) && IS_SHOWN(1, 11))
#define FOLLOWS provided (SHOWS_TRACE)
/* Which faults may strike there. */
#define MAY_DIE (next[17])
#define MAY_CUT(c) (next[18 + 2 * c])
#define MAY_RESTART(c) (next[19 + 2 * c])
#define MAY_EDIT(c) (next[22 + 2 * c])
#define MAY_REMOVE(c) (next[23 + 2 * c])

inline refill() {
  c_code { now.faults = setting("FAULTS"); now.stops = setting("STOPS"); now.cuts = setting("CUTS"); now.leaders = setting("LEADERS");
    now.edits = setting("EDITS"); now.removals = setting("REMOVALS"); now.restarts = setting("RESTARTS"); now.refusals = setting("REFUSALS"); }
}
active proctype Witness() {
end:
  do
  :: d_step { c_expr { GOES_ON } -> position++; c_code { show(now.position, now.next); }; refill() }
  :: d_step { c_expr { AT_END } && SHOWS_TRACE -> assert(false) }
  od
}
#else
#define FOLLOWS
#define MAY_DIE true
#define MAY_CUT(c) true
#define MAY_RESTART(c) true
#define MAY_EDIT(c) true
#define MAY_REMOVE(c) true
#endif

/* Pods that count: in their grace period they run. */
#define RUNS(c) ((at[c].pods > 0) && (at[c].excused == 0))
#define IS_LEFT(c) ((at[c].left > 0) && (at[c].excused == 0))
#define RUN (RUNS(0) + IS_LEFT(0) + RUNS(1) + IS_LEFT(1))

/* What is promised: pods of two copies never run at the same time, and what is proven to rest does. */
#define PROMISE assert(RUN <= 1); assert(!PROVEN || home_was_restored || RUN == 0)

/* ---- Defects that were there once, or that a guard keeps away ---- */

#define TAKEN_NAME_IS_A_NO 1
#define MOVES_BEFORE_PODS_ARE_GONE 2
#define LOST_ANSWER_IS_A_NO 3
#define NO_DOUBT_AFTER_A_RESTART 4
#define CLUSTERS_WITHOUT_IDENTITY 5
#define STALE_LEADER_WRITES 6
#define REFUSALS_TELL_NOBODY 7
#define EVERY_CLUSTER_HAS_TO_BE_SEEN 8
#define SILENT_AFTER_A_RESTORE 9
#define W1_STOPPED_IS_FAILED 10
#define W3_NO_WORKER_IS_READY 11
#define W4_LAST_FLAGS_BIND 12
#define W6_CLOCKS_ARE_COMPARED 13
#define W7_GONE_COPY_IS_GONE_PODS 14
#define HOME_GOES_ON_AFTER_A_RESTORE 15
#define HOME_SETTLES_AT_ONCE 16
#define A_LOOK_SETTLES_WHAT_IS_LATE 17
#define TO_BE_SUSPENDED_IS_IN_PLACE 18
#define EDITED_OUT_OF_SIGHT 19
#define HAS(defect) (put_back == defect)

/* ---- What the leader knows of a cluster ---- */

#define MISLED(c) (repointed && c == 0)
#define HAS_IDENTITY(c) (!MISLED(c) || HAS(CLUSTERS_WITHOUT_IDENTITY))
#define ANSWERS(c) (leads && at[c].contact == READY && !at[c].cut && HAS_IDENTITY(c))
/* A watch goes on after a cut before a probe has shown that the cluster is in reach again. */
#define SEES(c) (ANSWERS(c) || (in_detail && leads && at[c].contact == LOST && !at[c].cut && HAS_IDENTITY(c)))
#define LISTED(c) (at[c].there && at[c].marked && !at[c].unnoticed && !MISLED(c))
#define RECORDED(c) (epoch > 0 && place == c && !done)
#define CURRENT(c) (LISTED(c) && RECORDED(c) && at[c].epoch == epoch)

#define SINCE_BIRTH (recorded_since || HAS(NO_DOUBT_AFTER_A_RESTART))
#define UNTOUCHED(c) (at[c].sent == NEVER && !at[c].unlisted && SINCE_BIRTH)
#define IS_OPEN(c) (at[c].sent == UNDER_WAY || at[c].sent == UNANSWERED)
#define WAITING(c) (at[c].sent == UNDER_WAY || (at[c].sent == UNANSWERED && at[c].sent_age <= LATE) || (!IS_OPEN(c) && !at[c].unlisted && !SINCE_BIRTH && led <= LATE))
#define TO_LOOK(c) ((at[c].sent == UNANSWERED && at[c].sent_age > LATE) || (!IS_OPEN(c) && at[c].unlisted))
#define DOUBTED(c) (WAITING(c) || TO_LOOK(c))
#define CERTAIN(c) (!DOUBTED(c) || UNTOUCHED(c))
#define HAS_TRACE(c) (at[c].sent != NEVER || at[c].unlisted)
#define WAS_DISPATCHED (told == DISPATCHED || told == COPY_LOST)
#define MAY_BE_THERE(c) (at[c].unlisted || (!at[c].absent && !UNTOUCHED(c)))
#define TO_BE_LOOKED_UP(c) (!LISTED(c) && (at[c].unlisted || (MAY_BE_THERE(c) && (suspended || WAS_DISPATCHED))))

#define RESUME_UNSEEN(c) (at[c].suspended && at[c].says_suspended && at[c].resumed_since && !HAS(W1_STOPPED_IS_FAILED))
/* What a copy says after somebody has asked for its deletion is no failure. */
#define COUNTS(c) (!at[c].deleting || HAS(W1_STOPPED_IS_FAILED))
#define SHOWS_NO_PODS(c) (at[c].pods == 0 || (HAS(MOVES_BEFORE_PODS_ARE_GONE) && at[c].pods != RUNNING))
#define RESTS(c) (at[c].ended || (at[c].suspended && at[c].says_suspended && !RESUME_UNSEEN(c) && SHOWS_NO_PODS(c)))

/* What on another cluster, or of another placement, keeps the next copy waiting. */
#define IN_THE_WAY(c) ((at[c].contact == READY && LISTED(c) && !CURRENT(c)) || (c != place && at[c].contact != LOST && HAS_TRACE(c) && DOUBTED(c)) || \
  (HAS(EVERY_CLUSTER_HAS_TO_BE_SEEN) && at[c].contact != READY))
#define BLOCKED (home_restored || IN_THE_WAY(0) || IN_THE_WAY(1))
#define ALL_SEEN (at[0].seen && at[1].seen)

/*
 * Nothing is left on the cluster that must not run: its worker may be told so. A copy in place is that of the record, and is suspended where its Job is.
 * All Jobs there are listed for that, and copies told by their pod templates.
 */
#define STANDS(c) (at[c].there && !at[c].unnoticed && !MISLED(c) && (at[c].marked || !HAS(EDITED_OUT_OF_SIGHT)))
#define IN_PLACE(c) (RECORDED(c) && at[c].epoch == epoch && (!suspended || at[c].suspended || HAS(TO_BE_SUSPENDED_IS_IN_PLACE)))
#define OUT_OF_PLACE(c) (STANDS(c) && !IN_PLACE(c) && !RESTS(c))
#define IN_ORDER(c) (!OUT_OF_PLACE(c) && (at[c].shows_unfenced || !at[c].unfenced))

#define MAY_CREATE(c) (ANSWERS(c) && RECORDED(c) && !suspended && !LISTED(c) && told != DISPATCHED && told != REFUSED && !at[c].refused && \
  !TO_BE_LOOKED_UP(c) && at[c].sent != UNDER_WAY && at[c].write == NONE && !at[c].tried && !BLOCKED)
#define MAY_RESUME(c) (ANSWERS(c) && CURRENT(c) && !suspended && at[c].suspended && !at[c].deleting && !at[c].ended && \
  at[c].sent != UNDER_WAY && at[c].write == NONE && !BLOCKED)

/* A resume, and a suspension, is conditional on the version of the copy that it was decided on. */
#define changed(c) if :: at[c].write >= RESUME -> at[c].write = NONE; if :: at[c].sent == UNDER_WAY && at[c].write_age == 0 -> at[c].sent = ANSWERED :: else fi :: else fi

inline forget_copy(c) {
  at[c].there = false; at[c].marked = false; at[c].suspended = false; at[c].says_suspended = false; at[c].resumed_since = false;
  at[c].deleting = false; at[c].ended = false; at[c].failed = false; at[c].epoch = 0
}

inline new_token(c) { at[c].answered = false; at[c].renewal_answers = false }

/* The name of the copy was read. A write that was given up a moment ago may be carried out after that. */
inline settle(c) {
  if
  :: at[c].sent == UNANSWERED && (at[c].sent_age > LATE || HAS(A_LOOK_SETTLES_WHAT_IS_LATE)) -> at[c].sent = ANSWERED
  :: else
  fi
}

/* A renewal is carried out, and its worker sees it. */
inline heard(c) {
  if
  :: at[c].renewal_answers && !at[c].dead -> at[c].answered = true; at[c].quiet = 0; at[c].fence = OPEN; at[c].binds_not = at[c].unfenced
  :: else
  fi;
  at[c].renewal_answers = false
}

/* ---- The leader at one cluster: manager/dispatch ---- */

proctype Leader(byte c) FOLLOWS {
end:
  do
  :: d_step { leads && at[c].contact != READY && !at[c].cut && HAS_IDENTITY(c) && !at[c].unnoticed -> step("Reconnect", c);
      at[c].contact = READY; at[c].seen = home_restored; }
  :: d_step { leads && at[c].contact != LOST && (at[c].cut || !HAS_IDENTITY(c)) -> step("Lose", c);
      at[c].silent = 0; at[c].contact = LOST }
  :: d_step { ANSWERS(c) && !done && (at[c].silent > 0 || (!at[c].answered && IN_ORDER(c))) -> step("Renew", c);
      if :: c == 0 && frozen == RENEW -> frozen = NONE; frozen_age = 0; frozen_epoch = 0 :: else fi;
      at[c].renewal_answers = (at[c].answered || IN_ORDER(c)); at[c].silent = 0; heard(c) }
  :: d_step { ANSWERS(c) && (at[c].shows_unfenced != at[c].unfenced || at[c].shows_dead != at[c].dead) -> step("Show", c);
      at[c].shows_unfenced = at[c].unfenced; at[c].shows_dead = at[c].dead }
  :: d_step { ANSWERS(c) && !at[c].answered && OUT_OF_PLACE(c) && !at[c].marked -> step("Mark", c);
      changed(c); at[c].marked = true; at[c].unlisted = false }

  :: d_step { MAY_CREATE(c) -> step("Create", c);
      at[c].write = CREATE; at[c].write_epoch = epoch; at[c].write_age = 0;
      at[c].write_counts = !(WAITING(c) && !UNTOUCHED(c)); at[c].sent = UNDER_WAY }
  :: d_step { MAY_RESUME(c) -> step("Resume", c);
      at[c].write = RESUME; at[c].write_epoch = epoch; at[c].write_age = 0; at[c].write_counts = false; at[c].sent = UNDER_WAY }
  :: d_step { at[c].write != NONE && at[c].write_age == 0 && at[c].sent == UNDER_WAY && !calm -> step("Give up", c);
      at[c].write_age = 1; at[c].sent_age = 0; at[c].absent = false;
      at[c].sent = (HAS(LOST_ANSWER_IS_A_NO) -> ANSWERED : UNANSWERED) }
  :: d_step { ANSWERS(c) && CURRENT(c) && suspended && !at[c].suspended && !at[c].deleting && !at[c].ended -> step("Suspend", c);
      at[c].suspended = true }
  /* The Job may be recorded again before it is carried out. */
  :: d_step { in_detail && ANSWERS(c) && CURRENT(c) && suspended && !at[c].suspended && !at[c].deleting && (!at[c].ended || !calm) && at[c].write == NONE -> step("Send a suspension", c);
      at[c].write = SUSPEND; at[c].write_epoch = epoch; at[c].write_age = 0; at[c].write_counts = false }
  :: d_step { ANSWERS(c) && CURRENT(c) && suspended && RESUME_UNSEEN(c) && !at[c].deleting -> step("Take back", c);
      at[c].says_suspended = false; at[c].resumed_since = false }
  :: d_step { HAS(W1_STOPPED_IS_FAILED) && ANSWERS(c) && CURRENT(c) && suspended && at[c].suspended && at[c].says_suspended && at[c].resumed_since && !at[c].deleting ->
      step("Take back", c); at[c].deleting = true }
  :: d_step { ANSWERS(c) && LISTED(c) && (done || (epoch > 0 && !CURRENT(c))) && !at[c].deleting -> step("Delete", c); changed(c); at[c].deleting = true }
  /* Its cluster is to be given up, and its work is at home. */
  :: d_step { in_detail && removals > 0 && !calm && ANSWERS(c) && CURRENT(c) && suspended && told == AT_REST && RESTS(c) && !at[c].deleting -> step("Give back", c); changed(c); at[c].deleting = true }
  :: d_step { ANSWERS(c) && !done && !(calm && !at[c].there && (at[c].pods > 0 || at[c].left > 0)) && ((TO_LOOK(c) && (suspended || c != place)) ||
        (c == place && TO_BE_LOOKED_UP(c) && !(WAITING(c) && suspended && !at[c].absent && !at[c].unlisted))) -> step("Look", c);
      settle(c);
      if
      :: at[c].there && !MISLED(c) -> if :: !at[c].marked -> changed(c); at[c].marked = true :: else fi; at[c].unlisted = false
      :: !at[c].there && !MISLED(c) && (at[c].pods > 0 || at[c].left > 0) && !HAS(W7_GONE_COPY_IS_GONE_PODS)
      :: else -> at[c].absent = true; at[c].unlisted = false
      fi }

  /* While it is in doubt, or the status of the copy lags behind its pods, this is said of a copy that rests, and takes the proof back. */
  :: d_step { ANSWERS(c) && CURRENT(c) && told != DISPATCHED && !((calm || !in_detail) && suspended && RESTS(c)) -> step("Say dispatched", c); told = DISPATCHED }
  :: d_step { ANSWERS(c) && RECORDED(c) && !LISTED(c) && told == DISPATCHED && !TO_BE_LOOKED_UP(c) -> step("Say lost", c); told = COPY_LOST }
  :: d_step { ANSWERS(c) && RECORDED(c) && !LISTED(c) && at[c].refused && !WAS_DISPATCHED && told != REFUSED && !TO_BE_LOOKED_UP(c) -> step("Say refused", c);
      told = REFUSED; PROMISE }
  :: d_step { SEES(c) && CURRENT(c) && suspended && RESTS(c) && CERTAIN(c) && (!PROVEN || told == FENCED_OFF) -> step("Say at rest", c); told = AT_REST; PROMISE }
  :: d_step { leads && RECORDED(c) && suspended && !PROVEN &&
        (UNTOUCHED(c) || (ANSWERS(c) && !LISTED(c) && !TO_BE_LOOKED_UP(c) && CERTAIN(c))) -> step("Say nothing there", c); told = AT_REST; PROMISE }
  :: d_step { leads && RECORDED(c) && suspended && !PROVEN && at[c].contact == LOST && at[c].silent >= GIVE_UP &&
        !at[c].shows_unfenced && !at[c].shows_dead -> step("Say fenced off", c); told = FENCED_OFF; PROMISE }
  :: d_step { ANSWERS(c) && CURRENT(c) && at[c].ended -> step("Finish", c); done = true }
  :: d_step { ANSWERS(c) && CURRENT(c) && at[c].failed && COUNTS(c) -> step("Fail", c); assert(false) }
  od
}

/* ---- The API server of a cluster, what is on its way there, its worker and its kubelets ---- */

proctype Server(byte c) FOLLOWS {
end:
  do
  :: d_step { at[c].write == CREATE && !at[c].there && !at[c].refuses -> step("Carry out create", c);
      at[c].there = true; at[c].marked = true; at[c].epoch = at[c].write_epoch; at[c].write = NONE;
      if :: at[c].write_age == 0 -> at[c].sent = ANSWERED; at[c].absent = false :: else fi }
  /* What was done elsewhere goes with a copy that is made suspended. */
  :: d_step { in_detail && at[c].write == CREATE && !at[c].there && !at[c].refuses -> step("Carry out create of a seed", c);
      at[c].there = true; at[c].marked = true; at[c].suspended = true; at[c].epoch = at[c].write_epoch; at[c].write = NONE;
      if :: at[c].write_age == 0 -> at[c].sent = ANSWERED; at[c].absent = false :: else fi }
  :: d_step { at[c].write == CREATE && (at[c].there || at[c].refuses) -> step("Refuse create", c); at[c].write = NONE; at[c].tried = calm;
      if
      :: at[c].write_age > 0
      :: at[c].write_age == 0 && at[c].there && at[c].epoch == at[c].write_epoch ->
         at[c].sent = ANSWERED;
         if
         :: HAS(TAKEN_NAME_IS_A_NO) && !at[c].marked -> at[c].refused = true; at[c].absent = true
         :: else -> at[c].marked = true; at[c].unlisted = false; at[c].absent = false
         fi
      :: at[c].write_age == 0 && at[c].there && at[c].epoch != at[c].write_epoch -> at[c].sent = ANSWERED; at[c].marked = true; at[c].unlisted = false
      :: at[c].write_age == 0 && !at[c].there -> at[c].sent = ANSWERED; at[c].refused = (at[c].write_counts && !HAS(REFUSALS_TELL_NOBODY))
      fi }
  :: d_step { at[c].write == RESUME -> step("Carry out resume", c); at[c].write = NONE;
      at[c].suspended = false; at[c].resumed_since = at[c].says_suspended;
      if :: at[c].write_age == 0 -> at[c].sent = ANSWERED :: else fi }
  :: d_step { at[c].write == SUSPEND -> step("Carry out suspension", c); at[c].write = NONE;
      if :: at[c].there -> at[c].suspended = true :: else fi }
  :: d_step { at[c].write != NONE && at[c].write_age > 0 -> step("Drop", c); at[c].write = NONE }
  :: d_step { at[c].renewal -> step("Carry out renewal", c); at[c].renewal = false; at[c].renewal_age = 0; heard(c) }
  :: d_step { at[c].renewal -> step("Drop renewal", c); at[c].renewal = false; at[c].renewal_age = 0; at[c].renewal_answers = false }

  /* The worker: worker/fence and worker/job. */
  :: d_step { !at[c].dead && at[c].quiet >= FENCE && !at[c].binds_not && at[c].fence != FENCED -> step("Trip", c); at[c].fence = FENCED; new_token(c) }
  :: d_step { !at[c].dead && (at[c].fence == OPEN || at[c].binds_not && at[c].unfenced) && at[c].there && !at[c].suspended && !at[c].deleting && !at[c].ended && at[c].pods == 0 ->
      step("Begin pods", c); at[c].pods = RUNNING; PROMISE }
  :: d_step { !at[c].dead && at[c].there && !at[c].suspended && at[c].says_suspended && at[c].fence != FENCED -> step("Say resumed", c);
      at[c].says_suspended = false; at[c].resumed_since = false }
  :: d_step { !at[c].dead && at[c].pods == RUNNING && (at[c].fence == FENCED || (at[c].there && at[c].suspended)) -> step("Stop pods", c); at[c].pods = ENDING }
  :: d_step { !at[c].dead && at[c].there && at[c].suspended && !at[c].says_suspended && at[c].pods != RUNNING && !at[c].ended -> step("Say suspended", c);
      changed(c); at[c].says_suspended = true; at[c].resumed_since = false }
  :: d_step { !at[c].dead && at[c].pods == RUNNING && at[c].there && !at[c].suspended && !at[c].deleting -> step("Complete", c); at[c].pods = 0; at[c].ended = true }
  /* Pods end, some to be made again, before their controller says how the Job has ended; it may have been suspended meanwhile. */
  :: d_step { in_detail && !calm && at[c].pods == RUNNING -> step("End by themselves", c); at[c].pods = 0 }
  :: d_step { in_detail && !calm && !at[c].dead && at[c].pods == 0 && at[c].there && !at[c].ended && !at[c].deleting -> step("Say ended", c); at[c].ended = true }
  /* Its garbage collector. */
  :: d_step { at[c].there && at[c].deleting && at[c].pods == RUNNING -> step("Collect pods", c); at[c].pods = ENDING; at[c].failed = true }
  :: d_step { at[c].there && at[c].deleting && at[c].pods == 0 -> step("Collect copy", c); changed(c); forget_copy(c);
      if :: at[c].contact == READY && leads -> at[c].absent = true; at[c].unlisted = false :: else fi }
  /* Its kubelets. */
  :: d_step { at[c].pods >= ENDING -> step("End pods", c); at[c].pods = 0 }
  :: d_step { at[c].left >= ENDING -> step("End pods left", c); at[c].left = 0 }
  od
}

/* ---- The manager cluster: admission, users, elections ---- */

#define ABLE(c) (at[c].contact == READY && (!at[c].shows_dead || HAS(W3_NO_WORKER_IS_READY)))

proctype Admission(byte c) FOLLOWS {
end:
  do
  /* Where it was it keeps its placement. What has refused it is avoided, in the end. */
  :: d_step { leads && !done && suspended && epoch > 0 && place == c && (told == AT_REST || told == FENCED_OFF) && ABLE(c) -> step("Record again", c);
      suspended = false; told = NOTHING; recorded_since = true; at[c].refused = false }
  :: d_step { leads && !done && suspended && (epoch == 0 || (PROVEN && (place != c || told != REFUSED))) && (epoch > 0 || c == 0 || calm) &&
        (epoch < PLACEMENTS || (calm && epoch == PLACEMENTS)) && !(calm && at[c].refuses) && ABLE(c) -> step("Record", c);
      suspended = false; told = NOTHING; recorded_since = true; epoch++; place = c; at[0].refused = false; at[1].refused = false }
  :: d_step { !suspended && RECORDED(c) && stops > 0 && !calm -> step("Stop", c); stops--; suspended = true }
  :: d_step { leads && !suspended && RECORDED(c) && (told == REFUSED || (at[c].contact == LOST && at[c].silent >= GIVE_UP && !at[c].shows_unfenced && !at[c].shows_dead)) ->
      step("Evict", c); suspended = true }
  od
}

/* ---- What strikes ---- */

#define MAY_STRIKE (faults > 0 && !done && !calm)

proctype Faults(byte c) FOLLOWS {
end:
  do
  :: d_step { MAY_STRIKE && MAY_CUT(c) && cuts > 0 && !at[c].cut -> step("Cut", c); cuts--; faults--; at[c].cut = true }
  :: d_step { MAY_STRIKE && MAY_CUT(c) && cuts > 0 && ANSWERS(c) -> step("Cut with a renewal under way", c); cuts--; faults--; at[c].cut = true;
      at[c].renewal = true; at[c].renewal_answers = (at[c].answered || IN_ORDER(c)); at[c].silent = 0 }
  :: d_step { at[c].cut && !(calm && cut_for_good) -> step("Mend", c); at[c].cut = false }
  :: d_step { MAY_STRIKE && MAY_EDIT(c) && edits > 0 && at[c].there && at[c].marked -> step("Edit marks", c); edits--; faults--;
      changed(c); at[c].marked = false;
      if
      :: HAS(TAKEN_NAME_IS_A_NO) -> at[c].absent = true
      :: !HAS(TAKEN_NAME_IS_A_NO) && at[c].contact != CONNECTING -> at[c].unlisted = true; at[c].absent = false
      :: else
      fi }
  :: d_step { MAY_STRIKE && MAY_REMOVE(c) && removals > 0 && at[c].there && !at[c].deleting -> step("Remove copy", c); removals--; faults--;
      changed(c); forget_copy(c);
      at[c].left = (at[c].pods == RUNNING -> ENDING : at[c].pods); at[c].pods = 0;
      if :: at[c].contact != CONNECTING -> at[c].unlisted = true; at[c].absent = false :: else fi }
  :: d_step { MAY_STRIKE && MAY_REMOVE(c) && removals > 0 && at[c].there && !at[c].deleting && at[c].pods == RUNNING && at[c].left == 0 && !at[c].cut -> step("Orphan pods", c); removals--; faults--;
      changed(c); forget_copy(c); at[c].left = RUNNING; at[c].pods = 0;
      if :: at[c].contact != CONNECTING -> at[c].unlisted = true; at[c].absent = false :: else fi }
  :: d_step { at[c].left == RUNNING -> step("End orphans", c); at[c].left = 0 }
  :: d_step { MAY_STRIKE && MAY_RESTART(c) && restarts > 0 && !at[c].dead -> step("Restart worker", c); restarts--; faults--;
      if :: at[c].fence == OPEN -> at[c].fence = HOLD :: else fi; new_token(c) }
  :: d_step { MAY_STRIKE && MAY_RESTART(c) && restarts > 0 && !at[c].dead -> step("Restart worker without a fence", c); restarts--; faults--;
      if :: at[c].fence == OPEN -> at[c].fence = HOLD :: else fi; new_token(c); at[c].unfenced = true;
      if :: HAS(W4_LAST_FLAGS_BIND) -> at[c].binds_not = true :: else fi }
  :: d_step { MAY_STRIKE && refusals > 0 && !at[c].refuses -> step("Refuse copies", c); refusals--; faults--; at[c].refuses = true }
  :: d_step { MAY_STRIKE && deaths > 0 && !at[c].dead && !at[c].there && at[c].write == NONE && !RECORDED(c) -> step("Kill worker for good", c); deaths--; faults--; at[c].dead = true }
  :: d_step { restores > 0 && !calm && faults > 0 && kept_on == NOBODY && !done && at[c].there -> step("Back up", c);
      kept_on = c; kept_there = at[c].there; kept_epoch = at[c].epoch; kept_suspended = at[c].suspended; kept_ran = (at[c].pods == RUNNING) }
  :: d_step { MAY_STRIKE && restores > 0 && kept_on == c -> step("Restore", c); restores--; faults--;
      changed(c); forget_copy(c); at[c].there = kept_there; at[c].marked = kept_there; at[c].epoch = kept_epoch; at[c].suspended = kept_suspended;
      at[c].says_suspended = (kept_suspended && !kept_ran); at[c].pods = (kept_ran -> RUNNING : 0); at[c].left = 0; at[c].renewal = false;
      at[c].excused = EXCUSE; at[c].unnoticed = true }
  :: d_step { at[c].unnoticed && !HAS(SILENT_AFTER_A_RESTORE) -> step("Notice restore", c); at[c].unnoticed = false; at[c].fence = FENCED; new_token(c);
      if :: leads -> at[c].contact = CONNECTING; at[c].unlisted = false; at[c].absent = false; at[c].refused = false; at[c].sent = UNANSWERED; at[c].sent_age = 0 :: else fi }
  :: d_step { MAY_STRIKE && repoints > 0 && c == 0 && !repointed -> step("Repoint", c); repoints--; faults--; repointed = true }
  :: d_step { repointed && c == 0 -> step("Point back", c); repointed = false; at[c].contact = CONNECTING }
  od
}

inline no_leader() {
  leads = false; recorded_since = false; led = 0;
  at[0].sent = NEVER; at[0].sent_age = 0; at[0].absent = false; at[0].unlisted = false; at[0].refused = false;
  at[1].sent = NEVER; at[1].sent_age = 0; at[1].absent = false; at[1].unlisted = false; at[1].refused = false;
  if :: at[0].write_age == 0 && at[0].write != NONE -> at[0].write_age = 1 :: else fi;
  if :: at[1].write_age == 0 && at[1].write != NONE -> at[1].write_age = 1 :: else fi;
  if :: HAS(W6_CLOCKS_ARE_COMPARED) -> at[0].silent = GIVE_UP :: !HAS(W6_CLOCKS_ARE_COMPARED) && at[0].contact != LOST -> at[0].silent = 0 :: else fi;
  if :: HAS(W6_CLOCKS_ARE_COMPARED) -> at[1].silent = GIVE_UP :: !HAS(W6_CLOCKS_ARE_COMPARED) && at[1].contact != LOST -> at[1].silent = 0 :: else fi;
  if :: at[0].contact == READY -> at[0].contact = CONNECTING :: else fi;
  if :: at[1].contact == READY -> at[1].contact = CONNECTING :: else fi
}

#define LATE_WRITES_ARE_OVER (led > LATE || HAS(HOME_SETTLES_AT_ONCE))
/*
 * A write is held from two thirds of the leader's Lease on, which no other has taken over by then. The renewal of a cluster's Lease waits for that Lease
 * alone, which its holder counts for two ticks, and fails once another leader has renewed it.
 */
#define MAY_SEND (frozen_age == 0 || (frozen_age <= 2 && (frozen == RENEW || HAS(STALE_LEADER_WRITES))))

proctype Election() FOLLOWS {
end:
  do
  :: d_step { MAY_STRIKE && MAY_DIE && leaders > 0 && leads -> step("Die", 0); leaders--; faults--; no_leader() }
  :: d_step { MAY_STRIKE && MAY_DIE && leaders > 0 && frozen == NONE && MAY_CREATE(0) -> step("Stand still before a create", 0); leaders--; faults--; frozen = CREATE; frozen_epoch = epoch; no_leader() }
  :: d_step { MAY_STRIKE && MAY_DIE && leaders > 0 && frozen == NONE && MAY_RESUME(0) -> step("Stand still before a resume", 0); leaders--; faults--; frozen = RESUME; frozen_epoch = epoch; no_leader() }
  :: d_step { MAY_STRIKE && MAY_DIE && leaders > 0 && frozen == NONE && ANSWERS(0) && !at[0].renewal -> step("Stand still before a renewal", 0); leaders--; faults--; frozen = RENEW; at[0].renewal_answers = at[0].answered; no_leader() }
  :: d_step { frozen != NONE && MAY_SEND -> step("Wake and write", 0);
      if
      :: frozen == RENEW && !at[0].renewal -> at[0].renewal = true; at[0].renewal_age = 0
      :: frozen == CREATE && at[0].write == NONE -> at[0].write = CREATE; at[0].write_epoch = frozen_epoch; at[0].write_age = 1
      :: frozen == RESUME && at[0].write == NONE && at[0].there && at[0].epoch == frozen_epoch && at[0].suspended -> at[0].write = RESUME; at[0].write_epoch = frozen_epoch; at[0].write_age = 1
      :: else
      fi; frozen = NONE; frozen_age = 0; frozen_epoch = 0 }
  :: d_step { frozen != NONE && frozen_age > 0 -> step("Wake and end", 0); frozen = NONE; frozen_age = 0; frozen_epoch = 0 }
  :: d_step { leads && home_restored && ALL_SEEN && LATE_WRITES_ARE_OVER -> step("All seen", 0); home_restored = false; at[0].seen = false; at[1].seen = false }
  :: d_step { !leads && (frozen == NONE || frozen_age > 0) -> step("Elect", 0); leads = true }
  :: d_step { home_restores > 0 && !calm && faults > 0 && !home_kept && !done && epoch > 0 -> step("Back up home", 0); home_kept = true;
      kept_home_epoch = epoch; kept_home_place = place; kept_home_told = told; kept_home_suspended = suspended }
  :: d_step { MAY_STRIKE && home_restores > 0 && home_kept -> step("Restore home", 0); home_restores--; faults--; home_was_restored = true;
      epoch = kept_home_epoch; place = kept_home_place; told = kept_home_told; suspended = kept_home_suspended;
      frozen = NONE; frozen_age = 0; frozen_epoch = 0; no_leader();
      home_restored = !HAS(HOME_GOES_ON_AFTER_A_RESTORE); at[0].seen = false; at[1].seen = false }
  od
}

/* ---- Time ---- */

/* What has to happen before more time may pass. */
#define IN_TIME(c) (!(at[c].write != NONE && (at[c].write_age == 0 || at[c].write_age > LATE)) && !(at[c].renewal && at[c].renewal_age >= LATE) && !(ANSWERS(c) && at[c].silent > 0) && \
  (at[c].dead || at[c].binds_not || at[c].quiet < FENCE || at[c].fence == FENCED) && \
  (at[c].dead || !(at[c].pods == RUNNING && (at[c].fence == FENCED || (at[c].there && at[c].suspended)))) && \
  at[c].pods <= ENDING + GRACE - 1 && at[c].left <= ENDING + GRACE - 1 && NOTICED(c))
#define NOTICED(c) (!at[c].unnoticed || HAS(SILENT_AFTER_A_RESTORE))
#define MAY_PASS (!calm || timeout)

inline pass(c) {
  if :: at[c].write != NONE && at[c].write_age > 0 -> at[c].write_age++ :: else fi;
  if :: at[c].renewal -> at[c].renewal_age++ :: else fi;
  if :: at[c].quiet < FENCE -> at[c].quiet++ :: else fi;
  if :: at[c].silent < GIVE_UP -> at[c].silent++ :: else fi;
  if :: at[c].sent == UNANSWERED && at[c].sent_age <= LATE -> at[c].sent_age++ :: else fi;
  if :: at[c].pods >= ENDING -> at[c].pods++ :: else fi;
  if :: at[c].left >= ENDING -> at[c].left++ :: else fi;
  if :: at[c].excused > 0 -> at[c].excused-- :: else fi;
  at[c].tried = false
}

proctype Time() FOLLOWS {
end:
  do
  :: atomic { IN_TIME(0) && IN_TIME(1) && !done && MAY_PASS -> d_step { step("Tick", 0);
      pass(0); pass(1);
      if :: leads && led <= LATE -> led++ :: else fi;
      if :: frozen != NONE && frozen_age < 3 -> frozen_age++ :: else fi;
      if :: calm -> calm_ticks++; assert(calm_ticks < CALM_TICKS) :: else fi;
      PROMISE } }
  :: d_step { ends_calm && !calm -> step("Calm", 0); calm = true; repointed = false; at[0].cut = at[0].cut && cut_for_good; at[1].cut = false }
  od
}

init {
  atomic {
    c_code {
#ifdef TRACE
      read_trace();
      show(0, now.next);
#endif
      now.put_back = setting("PUT_BACK"); now.ends_calm = setting("CALM"); now.cut_for_good = setting("CUT_FOR_GOOD"); now.in_detail = setting("DETAIL");
      now.faults = setting("FAULTS"); now.stops = setting("STOPS"); now.cuts = setting("CUTS"); now.leaders = setting("LEADERS");
      now.edits = setting("EDITS"); now.removals = setting("REMOVALS"); now.restarts = setting("RESTARTS"); now.refusals = setting("REFUSALS");
      now.deaths = setting("DEATHS"); now.restores = setting("RESTORES"); now.home_restores = setting("HOME_RESTORES"); now.repoints = setting("REPOINTS");
    }
    byte c;
    for (c : 0 .. 1) {
      at[c].contact = READY; at[c].fence = OPEN; at[c].answered = true;
      run Leader(c); run Server(c); run Admission(c); run Faults(c)
    }
    run Election(); run Time()
  }
}
