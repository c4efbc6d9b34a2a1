import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Costs } from '../../../api/operations/project.ts';
import { plotDays } from '../../model/fleet/day-plot.ts';
import type { Measure } from './measures.ts';

const HEIGHT = 160;
const AXIS = 64;
/** The margin for half of the last label. */
const RIGHT = 16;
const BELOW = 24;
const ABOVE = 8;

/** A bar chart by day. A table has the same data, for screen readers. */
export function DayPlot({ rows, measure }: { readonly rows: Costs['rows']; readonly measure: Measure }) {
  const box = useRef<HTMLElement>(null);
  const width = useWidth(box);
  const values = new Map(rows.flatMap((row) => (row.name === null ? [] : [[row.name, measure.of(row)] as const])));
  const { bars, ticks, labels } = plotDays(
    values,
    { width: Math.max(80, width - AXIS - RIGHT), height: HEIGHT },
    measure.steps,
  );
  return (
    <figure ref={box} class="plot">
      <svg
        width={width}
        height={HEIGHT + ABOVE + BELOW}
        role="img"
        aria-label={`${measure.title} by day; the table has the values`}
      >
        <g transform={`translate(${AXIS}, ${ABOVE})`}>
          {ticks.map(({ value, y }) => (
            <g key={value}>
              <line x1={0} x2={width - AXIS - RIGHT} y1={y} y2={y} class={value === 0 ? 'base' : ''} />
              <text x={-8} y={y + 4} text-anchor="end">
                {measure.axis(value)}
              </text>
            </g>
          ))}
          {bars.map(({ day, value, x, y, width: own, height }) => (
            <rect key={day} x={x} y={y} width={own} height={height}>
              <title>{`${day}: ${measure.show(value)}`}</title>
            </rect>
          ))}
          {labels.map(({ day, x }) => (
            <text key={day} x={x} y={HEIGHT + 16} text-anchor="middle">
              {day.slice(5)}
            </text>
          ))}
        </g>
      </svg>
      <table class="sr">
        <caption>{measure.title} by day</caption>
        <tbody>
          {bars.map(({ day, value }) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              <td>{measure.show(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(640);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = (): void => setWidth(element.clientWidth);
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}
