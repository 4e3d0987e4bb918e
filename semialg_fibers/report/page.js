"use strict";
// Moves the hidden hyperplanes along their translations and turns others round (theory §3.2, §3.3), in floats, and draws
// the function of the moved parameters anew each time. That it stays the same is proved elsewhere; here it is seen.
(function () {
  const source = document.getElementById("network");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const canvas = document.getElementById("function");
  const stage = document.getElementById("lines");
  const size = canvas.width;
  const [[left, right], [low, high]] = data.window;
  const start = data.layers;
  const controls = [...document.querySelectorAll("input[data-move]")];

  function moved() {
    const layers = start.map(([w, b]) => [w.map((row) => row.slice()), b.slice()]);
    const flips = controls.filter((c) => c.dataset.move === "flip" && c.checked).map((c) => Number(c.value));
    const [w1, b1] = layers[0];
    for (const { column, ratios } of data.hidden)
      for (const k of flips) {
        w1[column] = w1[column].map((v, c) => v + ratios[k] * start[0][0][k][c]);
        b1[column] += ratios[k] * start[0][1][k];
      }
    for (const k of flips) {
      w1[k] = w1[k].map((v) => -v);
      b1[k] = -b1[k];
    }
    for (const control of controls) {
      if (control.dataset.move !== "translation") continue;
      const { column, users } = data.hidden[Number(control.dataset.index)];
      const t = Number(control.value);
      b1[column] += t;
      for (const j of users) layers[1][1][j] -= start[1][0][j][column] * t;
    }
    return layers;
  }

  function value(layers, point) {
    let x = point;
    layers.forEach(([w, b], number) => {
      x = w.map((row, i) => {
        let sum = b[i];
        for (let k = 0; k < row.length; k++) sum += row[k] * x[k];
        return number < layers.length - 1 && sum < 0 ? 0 : sum;
      });
    });
    return x[0];
  }

  function values(layers) {
    const found = new Float64Array(size * size);
    for (let row = 0; row < size; row++) {
      const y = high - ((row + 0.5) / size) * (high - low);
      for (let column = 0; column < size; column++)
        found[row * size + column] = value(layers, [left + ((column + 0.5) / size) * (right - left), y]);
    }
    return found;
  }

  const first = values(start);
  const least = Math.min(...first), most = Math.max(...first);
  const bands = 14;
  const palette = data.palette.map((colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16)));

  function draw(found) {
    const context = canvas.getContext("2d");
    const image = context.createImageData(size, size);
    found.forEach((v, k) => {
      // half a step of rounding must not move a pixel to another band
      const share = most > least ? (v - least) / (most - least) + 1e-9 : 0;
      const band = Math.min(bands - 1, Math.max(0, Math.floor(share * bands)));
      const colour = palette[band];
      image.data.set([colour[0], colour[1], colour[2], 255], 4 * k);
    });
    context.putImageData(image, 0, 0);
  }

  const px = (x) => ((x - left) / (right - left)) * 600;
  const py = (y) => ((high - y) / (high - low)) * 600;

  function clip([a, b], c) {
    const ends = [];
    const add = (x, y) => {
      if (x >= left - 1e-9 && x <= right + 1e-9 && y >= low - 1e-9 && y <= high + 1e-9) ends.push([x, y]);
    };
    if (b !== 0) for (const x of [left, right]) add(x, -(a * x + c) / b);
    if (a !== 0) for (const y of [low, high]) add(-(b * y + c) / a, y);
    let best = null, longest = -1;
    for (const p of ends)
      for (const q of ends) {
        const length = (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2;
        if (length > longest) { longest = length; best = [p, q]; }
      }
    return longest > 0 ? best : null;
  }

  function place(layers) {
    const [w1, b1] = layers[0];
    w1.forEach((row, i) => {
      const line = stage.querySelector(`[data-hyperplane="${i}"]`);
      const arrow = stage.querySelector(`[data-side="${i}"]`);
      const ends = clip(row, b1[i]);
      for (const element of [line, arrow]) element.setAttribute("visibility", ends ? "visible" : "hidden");
      if (!ends) return;
      const [[a, b], [c, d]] = ends;
      line.setAttribute("x1", px(a)); line.setAttribute("y1", py(b));
      line.setAttribute("x2", px(c)); line.setAttribute("y2", py(d));
      const norm = Math.hypot(row[0], row[1]);
      const x = px(a + 0.12 * (c - a)), y = py(b + 0.12 * (d - b));
      arrow.setAttribute("x1", x); arrow.setAttribute("y1", y);
      arrow.setAttribute("x2", x + (22 * row[0]) / norm); arrow.setAttribute("y2", y - (22 * row[1]) / norm);
    });
  }

  const short = (v) => String(Number(v.toFixed(3))).replace("-", "−");

  function show(layers, found) {
    for (const control of controls)
      if (control.dataset.move === "translation")
        document.getElementById(control.id + "-value").textContent = short(Number(control.value));
    let gap = 0;
    for (let k = 0; k < found.length; k++) gap = Math.max(gap, Math.abs(found[k] - first[k]));
    document.getElementById("gap").textContent = gap < 1e-9 ? "0 (up to the rounding of floats)" : gap.toPrecision(3);
    const rows = [];
    layers[0][0].forEach((row, i) => rows.push(`A1 row ${i + 1}: (${row.map(short).join(", ")}),  b1: ${short(layers[0][1][i])}`));
    rows.push(`b2: (${layers[1][1].map(short).join(", ")})`);
    document.getElementById("moved").textContent = rows.join("\n");
  }

  function update() {
    const layers = moved();
    const found = values(layers);
    draw(found);
    place(layers);
    show(layers, found);
  }

  for (const control of controls) control.addEventListener("input", update);
  update();
})();
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => (part.open = true)));
