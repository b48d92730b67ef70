import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { theme } from './state.tsx';
import { BYTE_STEPS } from './words.ts';

/** One row of values over time. `colour` is a variable of the page's style. */
export type Series = {
  readonly label: string;
  readonly values: readonly number[];
  readonly colour: string;
  /** `Bar`: what happened in a bucket; `Area`: how much there was; `Line`: a bound of it. */
  readonly kind: 'Bar' | 'Area' | 'Line';
};

export type ChartProps = {
  /** Beginnings of the buckets, in epoch milliseconds. */
  readonly fromMs: readonly number[];
  readonly bucketMs: number;
  readonly series: readonly Series[];
  readonly height?: number;
  /** How a value is written at its axis. */
  readonly written?: ((value: number) => string) | undefined;
  /** Values are Mi: ticks stand at powers of two. */
  readonly isBinary?: boolean | undefined;
  /** The moment that is shown, and what to do when another one is pointed at. */
  readonly atMs?: number | undefined;
  readonly onMoment?: ((ms: number) => void) | undefined;
};

/** A chart over time. What it shows stands beside it in words or a table: a picture is none for everybody. */
export function Chart({ fromMs, bucketMs, series, height = 120, written, isBinary, atMs, onMoment }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const pointed = useRef(onMoment);
  pointed.current = onMoment;
  const shown = useRef(atMs);
  shown.current = atMs;
  const scheme = theme.value;
  useEffect(() => {
    const { current: element } = place;
    if (element === null) return undefined;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsFor(element, { series, height, written, isBinary, bucketMs }, () => shown.current), dataOf(fromMs, bucketMs, series), element);
      if (pointed.current !== undefined) point(plot.current, (ms) => pointed.current?.(ms));
    };
    draw();
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    return () => {
      resized.disconnect();
      dark.removeEventListener('change', draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [fromMs, series, scheme]);
  useEffect(() => plot.current?.redraw(false), [atMs]);
  return <div class="chart" ref={place} aria-hidden="true" />;
}

/** A bucket stands in the middle of its time. */
const dataOf = (fromMs: readonly number[], bucketMs: number, series: readonly Series[]): uPlot.AlignedData => [
  fromMs.map((ms) => (ms + bucketMs / 2) / 1_000),
  ...series.map(({ values }) => [...values]),
];

/** Presses and moves of pointers, as moments. */
function point(plot: uPlot, onMoment: (ms: number) => void): void {
  const tell = (event: PointerEvent): void => {
    const { left } = plot.over.getBoundingClientRect();
    onMoment(Math.round(plot.posToVal(event.clientX - left, 'x') * 1_000));
  };
  plot.over.addEventListener('pointerdown', (event) => {
    plot.over.setPointerCapture(event.pointerId);
    tell(event);
  });
  plot.over.addEventListener('pointermove', (event) => {
    if (event.buttons === 1) tell(event);
  });
}

type Drawn = Pick<ChartProps, 'series' | 'written' | 'isBinary' | 'bucketMs'> & { readonly height: number };

function optionsFor(element: HTMLElement, { series, height, written, isBinary }: Drawn, atMs: () => number | undefined): uPlot.Options {
  const colour = coloursOf(element);
  const axis = { stroke: colour('--soft'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
  return {
    width: Math.max(1, element.clientWidth),
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [6, 8, 0, 0],
    // As long as all values are nothing the axis must have an end, too.
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.05)] } },
    axes: [
      { ...axis, size: 24, space: 64, values: (_plot, seconds) => seconds.map(hourOf) },
      { ...axis, size: 46, space: 28, ...(isBinary === true ? { incrs: [...BYTE_STEPS] } : written === undefined && { incrs: WHOLE_STEPS }), ...(written !== undefined && { values: (_plot, values) => values.map(written) }) },
    ],
    series: [
      {},
      ...series.map(({ label, colour: name, kind }): uPlot.Series => {
        const stroke = colour(name);
        if (kind === 'Bar') {
          const paths = uPlot.paths.bars?.({ size: [0.7, 40] });
          return { label, stroke, fill: stroke, width: 0, points: { show: false }, ...(paths !== undefined && { paths }) };
        }
        const paths = uPlot.paths.stepped?.({ align: 1 });
        return {
          label,
          stroke,
          width: kind === 'Line' ? 1 : 1.5,
          points: { show: false },
          ...(kind === 'Line' ? { dash: [4, 4] } : { fill: faint(stroke) }),
          ...(paths !== undefined && { paths }),
        };
      }),
    ],
    hooks: {
      draw: [
        (plot) => {
          const ms = atMs();
          if (ms === undefined) return;
          const x = Math.round(plot.valToPos(ms / 1_000, 'x', true));
          const { top, height: high } = plot.bbox;
          plot.ctx.fillStyle = colour('--accent');
          plot.ctx.fillRect(x - 1, top, 2, high);
        },
      ],
    },
  };
}

/** Steps of an axis of counts. */
const WHOLE_STEPS = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** What the variables of the style are where this element stands: a canvas knows no variables. */
function coloursOf(element: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = document.createElement('span');
    probe.style.color = `var(${name})`;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}

/** `14:30`, and at midnight the day. */
function hourOf(seconds: number): string {
  const at = new Date(seconds * 1_000);
  return at.getHours() + at.getMinutes() === 0
    ? at.toLocaleDateString('en', { weekday: 'short', day: 'numeric' })
    : at.toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
}

const faint = (colour: string): string => colour.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.18)');
