// Types of what the scripts pass to each other. Those of answers are made from Python (tests/guide/web/declarations.py).

type Row = Record<string, any>;

type Spec = Record<string, any>;

interface ChartOptions {
  height?: number;
  series?: string[];
  words?: string;
  tip?: (datum: any) => any;
  open?: (datum: any) => void;
  points?: any[];
  say?: (point: any) => string;
}

declare var vegaEmbed: any;
