(function () {
  "use strict";
  var root = document.getElementById("live"), $ = function (id) { return document.getElementById(id); };
  var keep = 3600; // points kept of each kind
  var reqs, samples, state, seconds;

  function reset() { reqs = []; samples = []; state = ""; seconds = 0; $("events").textContent = ""; }
  function digits(v) { return v >= 1000 ? Math.round(v).toString().replace(/\B(?=(\d{3})+$)/g, v >= 10000 ? "\u202f" : "") : String(Number(v.toPrecision(3))); }
  function ms(v) { return v >= 1000 ? digits(v / 1000) + "\u202fs" : digits(v) + "\u202fms"; }
  function clock(s) {
    var t = Math.floor(s), p = function (n) { return (n < 10 ? "0" : "") + n; };
    return t < 3600 ? Math.floor(t / 60) + ":" + p(t % 60) : Math.floor(t / 3600) + ":" + p(Math.floor(t / 60) % 60) + ":" + p(t % 60);
  }
  function quantile(v, q) { v.sort(function (a, b) { return a - b; }); return v[Math.min(v.length - 1, Math.floor(q * v.length))]; }

  // A chart of the kinds of the report, drawn again at every update.
  function Chart(id, title, unit, height, series, opt) {
    this.series = series; this.opt = opt || {};
    var fig = document.createElement("figure"); fig.className = "ch"; fig.id = id;
    var legend = series.map(function (s) { return '<li><i class="ch-sw ch-c' + s.color + " ch-m" + s.mode + '"></i></li>'; }).join("");
    fig.innerHTML = '<figcaption><span class="ch-title"></span> <span class="ch-unit"></span><ul class="ch-legend">' + legend + '</ul></figcaption>' +
      '<div class="ch-body" role="img"><div class="ch-y"></div><div class="ch-plot"><svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true"></svg></div><div class="ch-x"></div></div>';
    fig.querySelector(".ch-title").textContent = title; fig.querySelector(".ch-unit").textContent = unit;
    fig.querySelectorAll(".ch-legend li").forEach(function (li, i) { li.appendChild(document.createTextNode(series[i].name)); });
    fig.querySelector(".ch-body").style.setProperty("--h", height + "px");
    fig.querySelector(".ch-body").setAttribute("aria-label", title + ", live");
    this.fig = fig; this.svg = fig.querySelector("svg"); this.y = fig.querySelector(".ch-y"); this.x = fig.querySelector(".ch-x");
    $("charts").appendChild(fig);
  }
  function nice(raw) { var p = Math.pow(10, Math.floor(Math.log10(raw))), m = raw / p; return (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10) * p; }
  Chart.prototype.draw = function (lo, hi) {
    var self = this, max = this.opt.max || 0, min = Infinity, log = this.opt.log, any = false;
    var data = this.series.map(function (s) { return s.points(); });
    data.forEach(function (pts) { pts.forEach(function (p) { if (p[0] >= lo && p[1] !== null) { any = true; if (!self.opt.max) max = Math.max(max, p[1]); if (p[1] > 0) min = Math.min(min, p[1]); } }); });
    this.fig.hidden = !any;
    if (!any) return;
    var ticks = [], step;
    if (log) {
      min = min / 1.2; max = max * 1.2;
      for (var e = Math.floor(Math.log10(min)); e <= Math.log10(max); e++) [1, 2, 5].forEach(function (m) { var v = m * Math.pow(10, e); if (v >= min && v <= max && (m === 1 || max / min < 200)) ticks.push(v); });
    } else { min = 0; if (!max) max = 1; step = nice(max / 3); if (!this.opt.max) max = Math.ceil(max / step) * step; for (var v = 0; v <= max * 1.0001; v += step) ticks.push(v); }
    var Y = function (v) { var f = log ? Math.log(v / min) / Math.log(max / min) : (v - min) / (max - min); return 1000 - Math.max(0, Math.min(1, f)) * 1000; };
    var X = function (t) { return (t - lo) / (hi - lo) * 1000; };
    var out = '<path class="ch-grid" d="' + ticks.map(function (v) { return "M0 " + Y(v).toFixed(1) + "H1000"; }).join("") + '"/>';
    this.series.forEach(function (s, k) {
      var d = "", down = false, last = -Infinity;
      data[k].forEach(function (p) {
        if (p[0] < lo || p[1] === null || log && p[1] <= 0) { if (p[1] === null) down = false; return; }
        var x = X(p[0]).toFixed(1), y = Y(p[1]).toFixed(1);
        if (s.mode === "dots") { d += "M" + x + " " + y + "h0"; return; }
        if (p[0] - last > (hi - lo) / 12 && p[0] - last > 5) down = false;
        d += (down ? "L" : "M") + x + " " + y; down = true; last = p[0];
      });
      out += '<path class="ch-s ch-c' + s.color + " ch-m" + s.mode + '" d="' + d + '"/>';
    });
    this.svg.innerHTML = out; // numbers only
    this.y.textContent = ""; this.x.textContent = "";
    ticks.forEach(function (v) { var s = document.createElement("span"); s.style.bottom = (1000 - Y(v)) / 10 + "%"; s.textContent = digits(v * (self.opt.factor || 1)); self.y.appendChild(s); });
    var every = [1, 2, 5, 10, 15, 30, 60, 120, 300].find(function (w) { return (hi - lo) / w <= 10; }) || 600;
    for (var t = Math.ceil(lo / every) * every, i = 0; t <= hi; t += every, i++) { var s = document.createElement("span"); s.style.left = X(t) / 10 + "%"; s.textContent = clock(t); if (i % 2) s.className = "ch-minor"; this.x.appendChild(s); }
  };

  function from(list, key, f) { return function () { return list().filter(function (p) { return p[key] !== undefined && p[key] !== null; }).map(function (p) { return [p.t, f ? f(p[key]) : p[key]]; }); }; }
  var R = function (ok) { return function () { return reqs.filter(function (p) { return p.ok === ok; }); }; }, S = function () { return samples; };
  function rate() { // output tokens a second, per second
    var w = Math.max(1, Math.ceil(Math.min(seconds, 900) / 120)), bins = {};
    reqs.forEach(function (p) { var b = Math.floor(p.t / w); bins[b] = (bins[b] || 0) + p.n; });
    var out = [], end = Math.floor(seconds / w);
    for (var b = Math.max(0, end - 400); b < end; b++) out.push([(b + 0.5) * w, (bins[b] || 0) / w]);
    return out;
  }
  var charts = [
    new Chart("l-latency", "Latency of requests as they end", "ms", 220, [
      { name: "E2E", mode: "dots", color: 2, points: from(R(true), "e2e") }, { name: "TTFT", mode: "dots", color: 1, points: from(R(true), "ttft") }, { name: "failed after", mode: "dots", color: 8, points: from(R(false), "e2e") }], { log: true }),
    new Chart("l-tokens", "Output tokens of ended requests", "tok/s", 110, [{ name: "tokens", mode: "line", color: 3, points: rate }]),
    new Chart("l-system", "Requests in the system", "", 110, [
      { name: "running", mode: "line", color: 3, points: from(S, "running") }, { name: "waiting", mode: "line", color: 6, points: from(S, "waiting") }, { name: "open (client)", mode: "line", color: 1, points: from(S, "open") }]),
    new Chart("l-use", "In use", "%", 110, [
      { name: "KV cache", mode: "line", color: 4, points: from(S, "kv") }, { name: "GPU", mode: "line", color: 3, points: from(S, "gpu") }, { name: "load machine CPU", mode: "line", color: 2, points: from(S, "cpu") }], { max: 100 })
  ];

  function lately(s) { return reqs.filter(function (p) { return p.ok && p.t > seconds - s; }); }
  function lastOf(key) { for (var i = samples.length - 1; i >= 0; i--) if (samples[i][key] !== undefined) return samples[i][key]; return null; }
  function show(u) {
    $("clock").textContent = clock(u.seconds) + " in";
    $("n-ok").textContent = digits(u.ok); $("n-failed").textContent = digits(u.failed);
    $("k-failed").classList.toggle("bad-now", u.failed > 0);
    $("n-total").textContent = digits(u.tokens) + " tokens" + (u.partial ? " in the part that was read" : " in all");
    var ten = lately(10), span = Math.max(1, Math.min(10, seconds));
    $("n-rate").textContent = digits(ten.length / span) + " a second";
    $("n-tok").textContent = digits(ten.reduce(function (a, p) { return a + p.n; }, 0) / span);
    var t = lately(30).filter(function (p) { return p.ttft !== null; }).map(function (p) { return p.ttft; });
    $("n-ttft").textContent = t.length ? ms(quantile(t, 0.5)) : "–";
    $("n-ttft2").textContent = t.length ? "median; worst " + ms(quantile(t, 1)) + " of " + t.length : "no request ended";
    var open = lastOf("open"), run = lastOf("running"), wait = lastOf("waiting");
    $("n-open").textContent = open === null ? "–" : digits(open);
    $("n-queue").textContent = run === null ? "engine does not say" : digits(run) + " running, " + digits(wait || 0) + " waiting";
    var lo = Math.max(0, seconds - 900), hi = Math.max(lo + 20, seconds);
    charts.forEach(function (c) { c.draw(lo, hi); });
  }
  function event(e) {
    var tr = document.createElement("tr"); tr.className = e.severity;
    [clock(e.t), e.kind, e.message].forEach(function (x) { var td = document.createElement("td"); td.textContent = x; tr.appendChild(td); });
    $("events").insertBefore(tr, $("events").firstChild);
    while ($("events").children.length > 100) $("events").removeChild($("events").lastChild);
  }

  reset();
  var es = new EventSource(root.dataset.stream);
  es.onmessage = function (ev) {
    if (ev.lastEventId === "1") reset();
    var u = JSON.parse(ev.data);
    $("trouble").hidden = true;
    reqs = reqs.concat(u.requests || []).slice(-keep); samples = samples.concat(u.samples || []).slice(-keep);
    seconds = u.seconds; state = u.state;
    (u.events || []).forEach(event);
    $("state").textContent = state; $("state").classList.toggle("over", state !== "running");
    show(u);
  };
  es.addEventListener("end", function () { es.close(); location.replace(root.dataset.done); });
  es.addEventListener("trouble", function (ev) { es.close(); $("trouble").hidden = false; $("trouble").textContent = JSON.parse(ev.data); });
  es.onerror = function () { $("trouble").hidden = false; $("trouble").textContent = "The connection was lost; trying again."; };
})();
